//! placeholder newreno
