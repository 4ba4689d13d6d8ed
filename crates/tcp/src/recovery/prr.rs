//! placeholder prr
