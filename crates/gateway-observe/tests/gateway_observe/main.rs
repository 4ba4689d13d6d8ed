//! An observer and a gateway, both in this process unless a test says otherwise.

#[expect(dead_code, reason = "the tests of the gateway use all of it")]
#[path = "../../../gateway/tests/gateway/bed.rs"]
mod bed;
mod hostile;
mod passive;
mod seen;
