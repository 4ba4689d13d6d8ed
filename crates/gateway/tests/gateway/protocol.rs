//! The protocol on the wire: batches count once, malformed ones are refused with a status,
//! subscribers receive changes.

use crate::bed::{Bed, batch, network, query, report, send};
use gateway::config::DaemonConfig;
use gateway_proto::v1::{
    Answer, Collector, Estimate, Refusal, Report, ReportBatch, Source, SubscribeRequest, answer,
    update,
};
use prost::Message;
use std::time::Duration;
use tonic::Code;

fn estimate(answer: &Answer) -> &Estimate {
    match &answer.result {
        Some(answer::Result::Estimate(estimate)) => estimate,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_one_reports_another_is_told() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut reporter = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let reports = vec![report("192.0.2.0/24", 200_000); 20];
    let acks = send(&mut reporter, vec![batch(1, reports)]).await.unwrap();
    assert_eq!((acks[0].sequence, acks[0].taken), (1, 20));
    let other = bed.issue(gateway::pki::HolderRole::Agent, "site", "other");
    let mut other = bed.connect(running.grpc, Some(&other)).await.unwrap();
    let answer = other.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    assert_eq!(answer.id, 7);
    let told = estimate(&answer);
    assert_eq!(told.network, Some(network("192.0.2.0/24")));
    assert_eq!((told.source(), told.reporters), (Source::Network, 1));
    // 99 of 100 segments of 200,000 bytes were delivered, and 20 Mbit/s over 80 ms are as much. The
    // estimator keeps windows, rates and round trips in steps of 4.4, 9.1 and 6.5 %. So half a step
    // of each is the largest error: 10 %.
    assert!((180_000..=220_000).contains(&told.window), "{told:?}");
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_batch_that_is_sent_again_counts_once() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let one = batch(1, vec![report("192.0.2.0/24", 100_000); 3]);
    let acks = send(&mut client, vec![one.clone(), one.clone()]).await.unwrap();
    assert_eq!(
        (acks[0].taken, acks[0].repeated, acks[1].taken, acks[1].repeated),
        (3, false, 0, true)
    );
    // The batch is repeated over another connection as well.
    let mut again = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    assert!(send(&mut again, vec![one]).await.unwrap()[0].repeated);
    assert_eq!(running.site.counts.taken.get(0), 3);
    assert_eq!(running.site.counts.repeated_batches.get(), 2);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn batches_without_sense_end_the_stream_and_not_the_gateway() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let good = || vec![report("192.0.2.0/24", 100_000)];
    let wrong = [
        ReportBatch { epoch: 0, ..batch(1, good()) },
        batch(0, good()),
        ReportBatch { collector: 99, ..batch(1, good()) },
        batch(1, vec![report("192.0.2.0/24", 100_000); 4097]),
    ];
    for (number, batch) in wrong.into_iter().enumerate() {
        let status = send(&mut client, vec![batch]).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{number}: {status}");
    }
    // The batch has more bytes than 4096 reports of 128 bytes and 32 KiB: it is not even read,
    // neither on a stream nor in a single message.
    let most = 4096 * 128 + 32 * 1024;
    let huge = batch(1, vec![report("192.0.2.0/24", 100_000); 20_000]);
    assert!(huge.encoded_len() > most, "{}", huge.encoded_len());
    let status = send(&mut client, vec![huge]).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    let huge = SubscribeRequest { addresses: vec![vec![0; most]], ..SubscribeRequest::default() };
    let status = client.subscribe(huge).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    assert_eq!(running.site.counts.bad_batches.get(), 4);
    assert_eq!(send(&mut client, vec![batch(1, good())]).await.unwrap()[0].taken, 1);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn reports_that_no_connection_makes_are_refused_one_by_one() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let good = report("192.0.2.0/24", 100_000);
    let cases = [
        (Report { network: None, ..good }, Refusal::Network),
        (report("10.0.0.0/8", 100_000), Refusal::Network),
        // This prefix is all of IPv4, behind NAT64.
        (report("64:ff9b::/48", 100_000), Refusal::Network),
        (report("192.0.2.1/32", 100_000), Refusal::TooLong),
        (report("192.0.2.0/24", 0), Refusal::Figures),
        (report("192.0.2.0/24", 1 << 31), Refusal::Figures),
        (Report { lost: 101, ..good }, Refusal::Figures),
        (Report { bound: 0, ..good }, Refusal::Figures),
        (Report { rate: u64::MAX, ..good }, Refusal::Figures),
        (Report { age_ms: 3_600_001, ..good }, Refusal::TooOld),
    ];
    let reports = cases.iter().map(|(report, _)| *report).collect();
    let ack = send(&mut client, vec![batch(1, reports)]).await.unwrap().remove(0);
    assert_eq!(ack.taken, 0);
    for why in [Refusal::Network, Refusal::TooLong, Refusal::Figures, Refusal::TooOld] {
        let expected = cases.iter().filter(|(_, expected)| *expected == why).count() as u32;
        let counted =
            ack.refused.iter().find(|refused| refused.why() == why).map(|refused| refused.count);
        assert_eq!(counted, Some(expected), "{why:?}");
    }
    // This way of collecting is off by default.
    let replayed = ReportBatch { collector: Collector::Replay.into(), ..batch(2, vec![good]) };
    let ack = send(&mut client, vec![replayed]).await.unwrap().remove(0);
    assert_eq!(ack.refused[0].why(), Refusal::Collector);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_reporter_sends_no_more_than_its_share() {
    let bed = Bed::new("");
    let text = bed.text("gateway.toml").replace("retention", "reports-per-second = 10\nretention");
    std::fs::write(bed.file("gateway.toml"), text).unwrap();
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    // The quota is 10 s at 10 per second at once, and one or two more while they are read.
    let ack = send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 1000])])
        .await
        .unwrap()
        .remove(0);
    assert!((100..=110).contains(&ack.taken), "{ack:?}");
    assert_eq!(ack.refused[0].why(), Refusal::TooMany);
    running.handle.end().await.unwrap();
}

/// The limit of a message is that of the rules at the start of its call.
#[tokio::test]
async fn a_larger_batch_counts_once_a_reload_allows_it() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let rules = || running.site.rules().max_batch;
    assert_eq!(rules(), 4096);
    bed.add_key("max-batch = 65536");
    running.handle.reload();
    let mut patience = 500;
    while rules() == 4096 {
        patience -= 1;
        assert!(patience > 0, "the old rules are still in force");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let rate = 1 << 40;
    let one = Report {
        rate,
        min_rtt_us: 80_000,
        transfer_bytes: 1 << 40,
        ..report("2001:db8::/48", 1 << 30)
    };
    let one = batch(1, vec![one; 16_384]);
    // The batch is larger than 4096 reports of 128 bytes and 32 KiB, which was the limit.
    assert!(one.encoded_len() > 4096 * 128 + 32 * 1024, "{}", one.encoded_len());
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let acks = send(&mut client, vec![one]).await.unwrap();
    assert_eq!(acks[0].taken, 16_384);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn questions_on_a_kept_stream_are_answered_in_order() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let queries = (0..100).map(|id| gateway_proto::v1::Query { id, ..query("192.0.2.0/24") });
    let queries: Vec<_> = queries.collect();
    let mut answers = client.ask_stream(tokio_stream::iter(queries)).await.unwrap().into_inner();
    for id in 0..100 {
        let answer = answers.message().await.unwrap().expect("one for each");
        assert_eq!(answer.id, id);
        assert!(estimate(&answer).window > 0);
    }
    assert_eq!(answers.message().await.unwrap(), None);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn subscribers_hear_of_changes_and_of_what_is_forgotten() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let request = SubscribeRequest {
        networks: vec![network("192.0.2.0/24")],
        known: 10,
        addresses: Vec::new(),
    };
    let mut updates = client.subscribe(request).await.unwrap().into_inner();
    let first = updates.message().await.unwrap().unwrap().what.unwrap();
    assert!(
        matches!(first, update::What::Estimate(known) if known.network == Some(network("192.0.2.0/24")))
    );
    let others = vec![report("198.51.100.0/24", 50_000), report("192.0.2.0/24", 150_000)];
    send(&mut client, vec![batch(2, others)]).await.unwrap();
    // The subscriber gets only the network that it wants; the first report may be repeated.
    let next = tokio::time::timeout(Duration::from_secs(5), updates.message())
        .await
        .expect("within 100 ms or so");
    let Some(update::What::Estimate(told)) = next.unwrap().unwrap().what else { panic!() };
    assert_eq!(told.network, Some(network("192.0.2.0/24")));
    let now = running.site.clock.now();
    running.site.tenant("site").unwrap().forget(now, "192.0.2.0/24".parse().unwrap()).await;
    let forgotten = async {
        loop {
            if let Some(update::What::Forget(network)) =
                updates.message().await.unwrap().unwrap().what
            {
                return network;
            }
        }
    };
    let forgotten = tokio::time::timeout(Duration::from_secs(5), forgotten).await.unwrap();
    assert_eq!(forgotten, network("192.0.2.0/24"));
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_drain_ends_kept_streams_with_a_word() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut updates = client.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    let ended = tokio::time::timeout(Duration::from_secs(4), running.handle.end());
    let (ended, last) = tokio::join!(ended, updates.message());
    ended.expect("nobody has to wait for a kept stream").unwrap();
    assert_eq!(last.unwrap_err().code(), Code::Unavailable);
}

/// Each call gives the gateway 300 ms. Kept streams have had no message by then; a subscriber would
/// get one after ten seconds.
#[tokio::test]
async fn a_call_that_waits_ends_at_its_deadline() {
    fn timed<T>(message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        request.set_timeout(Duration::from_millis(300));
        request
    }
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut updates =
        client.subscribe(timed(SubscribeRequest::default())).await.unwrap().into_inner();
    let mut acks = client.report(timed(tokio_stream::pending())).await.unwrap().into_inner();
    let mut answers = client.ask_stream(timed(tokio_stream::pending())).await.unwrap().into_inner();
    let ends = async {
        let ends = (updates.message().await, acks.message().await, answers.message().await);
        [ends.0.unwrap_err(), ends.1.unwrap_err(), ends.2.unwrap_err()]
    };
    let ends = tokio::time::timeout(Duration::from_secs(5), ends).await.expect("a deadline");
    assert_eq!(ends.map(|status| status.code()), [Code::DeadlineExceeded; 3]);
    running.handle.end().await.unwrap();
}

/// The reload logs a warning with these tenants. If they are added again, their memory is empty.
#[tokio::test]
async fn a_tenant_that_is_removed_is_told_and_begins_anew() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let with = running.site.rules().as_ref().clone();
    let text = bed.text("gateway.toml").replace("name = \"site\"", "name = \"shop\"");
    std::fs::write(bed.file("gateway.toml"), text).unwrap();
    let without = DaemonConfig::read(&bed.file("gateway.toml")).unwrap().rules;
    let gone = running.site.set_rules(without);
    let known: Vec<_> =
        gone.iter().map(|one| (one.name.as_str(), one.memory().networks().count())).collect();
    assert_eq!(known, [("site", 1)]);
    let gone = running.site.set_rules(with);
    assert_eq!(gone.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["shop"]);
    assert_eq!(running.site.tenant("site").unwrap().memory().networks().count(), 0);
    running.handle.end().await.unwrap();
}
