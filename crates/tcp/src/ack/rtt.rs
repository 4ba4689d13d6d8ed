//! RTT estimation.
pub struct RttEstimator;
