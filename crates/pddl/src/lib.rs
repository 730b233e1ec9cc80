//! Reads PDDL text into a checked lifted problem, or says what is wrong with it.
