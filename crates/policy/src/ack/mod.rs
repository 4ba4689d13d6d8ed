//! Facts from received ACKs, for the policies.

pub mod rate;
pub mod round_trip;
pub mod rounds;
pub mod rtt;
pub mod sample;
pub mod scoreboard;

pub use rate::{Delivered, DeliveryMarks, DeliveryMeter, micros};
pub use rate::{Delivery, Episode, RateSample};
pub use round_trip::RoundTrip;
pub use rounds::RoundMeter;
pub use rtt::RttEstimator;
pub use sample::{AckInfo, AckSample};
pub use scoreboard::{AckProgress, Newest, RepeatedSegments, Scoreboard, SentSegment};
