//! Grounding, heuristics, search and plans.
