//! placeholder sack_pipe
