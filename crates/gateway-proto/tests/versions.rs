//! Messages of a later version: a reader passes over what it does not know.

use gateway_proto::v1;
use prost::Message;
use std::fmt::Debug;

/// Fields of the number 2000, of each kind on the wire (Protocol Buffers, "Encoding"). A key is the
/// number, shifted by three bits, and the kind, in groups of seven bits: 16,000 is 0x80 0x7d.
const LATER_FIELDS: [&[u8]; 4] = [
    &[0x80, 0x7d, 0x07],
    &[0x81, 0x7d, 1, 2, 3, 4, 5, 6, 7, 8],
    &[0x82, 0x7d, 2, b'h', b's'],
    &[0x85, 0x7d, 1, 2, 3, 4],
];

/// Fails if a message with more fields is not read as the same message.
fn assert_later_is_read<M: Message + Default + PartialEq + Debug>(message: M) {
    let mut bytes = message.encode_to_vec();
    bytes.extend(LATER_FIELDS.concat());
    assert_eq!(M::decode(&bytes[..]), Ok(message));
}

#[test]
fn fields_of_a_later_version_are_passed_over() {
    let network = v1::Network::of("192.0.2.0/24".parse().unwrap());
    let report = v1::Report { network: Some(network), window: 5, ..Default::default() };
    let estimate = v1::Estimate { network: Some(network), window: 5, ..Default::default() };
    assert_later_is_read(v1::ReportBatch {
        epoch: 1,
        reports: vec![report],
        status: Some(v1::HostStatus { answers_none: 7, ..Default::default() }),
        ..Default::default()
    });
    assert_later_is_read(report);
    assert_later_is_read(v1::ReportAck {
        refused: vec![v1::RefusedReports { why: 1, count: 2 }],
        ..Default::default()
    });
    assert_later_is_read(v1::Query { id: 1, network: Some(network), size: 3 });
    let result = Some(v1::answer::Result::Estimate(estimate));
    assert_later_is_read(v1::Answer { id: 1, result });
    assert_later_is_read(v1::SubscribeRequest { networks: vec![network], ..Default::default() });
    let what = Some(v1::update::What::Arrival(estimate));
    assert_later_is_read(v1::Update { what });
    assert_later_is_read(v1::ForgetRequest { network: Some(network) });
    assert_later_is_read(v1::ForgetReply { forgotten: 1, ..Default::default() });
    assert_later_is_read(v1::Arrival { network: Some(network), server: vec![192, 0, 2, 1] });
    assert_later_is_read(v1::AnnounceReply {});
    let part = Some(v1::ComparedPart { kind: 1, class: 0 });
    let sums = v1::PartSums { part, chosen: 1, ..Default::default() };
    assert_later_is_read(v1::HostComparison { method: 1, parts: vec![sums] });
    let finding = v1::PartFinding { part, hosts: 2, ..Default::default() };
    assert_later_is_read(v1::FleetComparison { parts: vec![finding] });
}

/// Another kind of update or answer is none, and another value of a list is its number.
#[test]
fn kinds_of_a_later_version_are_none() {
    for later in LATER_FIELDS {
        assert_eq!(v1::Update::decode(later), Ok(v1::Update { what: None }));
        assert_eq!(v1::Answer::decode(later), Ok(v1::Answer { id: 0, result: None }));
    }
    let report = v1::Report { bound: 99, start: 99, ..Default::default() };
    let read = v1::Report::decode(&report.encode_to_vec()[..]).unwrap();
    assert_eq!((read.bound, v1::Start::try_from(read.start).is_err()), (99, true));
}
