//! Forecasts against races of the same visits.

mod captured;
mod intervals;
mod races;
