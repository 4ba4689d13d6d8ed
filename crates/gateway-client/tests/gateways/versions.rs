//! A gateway of another version.

use crate::{Fake, Site, client, connected, first, question, until};
use gateway_client::SiteEvent;
use gateway_proto::v1::{Refusal, Report};
use std::time::Duration;

/// A gateway of a later version sends an update and answers that an agent does not know, and
/// refuses reports for a reason that it does not know. A gateway of an earlier version lacks the
/// call that compares. The connection goes on with both.
#[test]
fn a_gateway_of_another_version_is_of_use() {
    let site = Site::new("version");
    let fake = Fake { is_later: true, ..Fake::default() };
    let (gateway, _runs) = site.serve(fake.clone());
    let (client, events) = client(site.config(&[gateway]));
    first(&events, connected);
    client.compare(&[]);
    client.ask(question());
    until("the question is answered", || client.status().none == 1);
    client.report(Report { window: 5, ..Report::default() });
    assert!(client.flush(Duration::from_secs(30)));
    client.ask(question());
    until("the next question is answered", || client.status().none == 2);
    assert_eq!(client.refusals(), [(Refusal::Unspecified, 1)]);
    assert_eq!(client.status().reports_taken, 0);
    let other: Vec<SiteEvent<()>> = events.try_iter().collect();
    assert_eq!(other, []);
}
