//! Tests of several modules together: a start-up hands its model to a controller.

mod bbr;
