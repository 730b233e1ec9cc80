//! The neural logic machine: shapes, parameters, forward, backward, Adam.
