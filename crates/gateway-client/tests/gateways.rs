//! A client and its gateways: one that answers, one that is silent, one that ends. The gateways of
//! these tests are as small as the protocol permits; the real one is in crate `gateway`.

#[path = "gateways/names.rs"]
mod names;
#[path = "gateways/renewal.rs"]
mod renewal;
#[path = "gateways/site.rs"]
mod site;
#[path = "gateways/versions.rs"]
mod versions;

use gateway_client::{ClientConfig, SiteClient, SiteEvent, SiteQuestion};
use gateway_proto::v1::gateway_server::Gateway;
use gateway_proto::v1::{
    AnnounceReply, Answer, Arrival, Estimate, FleetComparison, ForgetReply, ForgetRequest,
    HostComparison, Query, RefusedReports, Report, ReportAck, ReportBatch, SubscribeRequest,
    Update, answer,
};
use site::{SignedPem, Site};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// The behaviour of a gateway.
#[derive(Clone, Default)]
struct Fake {
    /// Window of each answer.
    window: u64,
    /// True if it takes questions and answers none.
    is_silent: bool,
    /// True if it takes batches and acknowledges none.
    never_acks: bool,
    /// True if it refuses questions and subscriptions, as the gateway does to an observer.
    is_for_observers: bool,
    /// True if it sends only what a later version knows.
    is_later: bool,
    /// The reason for which it refuses sums; without one it is of an earlier version.
    refuses_sums: Option<&'static str>,
    /// Number of received sums.
    compared: Arc<AtomicU32>,
    batches: Arc<Mutex<Vec<ReportBatch>>>,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    /// Certificates with which streams of questions were opened (DER).
    shown: Arc<Mutex<Vec<Vec<u8>>>>,
}

type Stream<T> = ReceiverStream<Result<T, Status>>;

/// Answers each received message with the result of `map`.
fn each<I: Send + 'static, O: Send + 'static>(
    mut messages: Streaming<I>,
    mut map: impl FnMut(I) -> Option<O> + Send + 'static,
) -> Response<Stream<O>> {
    let (out, answers) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok(Some(message)) = messages.message().await {
            if let Some(answer) = map(message)
                && out.send(Ok(answer)).await.is_err()
            {
                return;
            }
        }
    });
    Response::new(ReceiverStream::new(answers))
}

#[tonic::async_trait]
impl Gateway for Fake {
    type ReportStream = Stream<ReportAck>;
    type AskStreamStream = Stream<Answer>;
    type SubscribeStream = Stream<Update>;

    async fn report(
        &self,
        batches: Request<Streaming<ReportBatch>>,
    ) -> Result<Response<Self::ReportStream>, Status> {
        let fake = self.clone();
        Ok(each(batches.into_inner(), move |batch| {
            let ack = ReportAck {
                epoch: batch.epoch,
                sequence: batch.sequence,
                taken: u32::try_from(batch.reports.len()).unwrap(),
                ..ReportAck::default()
            };
            let ack = if fake.is_later { refused_later(ack) } else { ack };
            fake.batches.lock().unwrap().push(batch);
            (!fake.never_acks).then_some(ack)
        }))
    }

    async fn ask(&self, _: Request<Query>) -> Result<Response<Answer>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn ask_stream(
        &self,
        queries: Request<Streaming<Query>>,
    ) -> Result<Response<Self::AskStreamStream>, Status> {
        let fake = self.clone();
        if fake.is_for_observers {
            return Err(Status::permission_denied("no asking"));
        }
        let chain = queries.peer_certs().expect("TLS asks for a certificate");
        fake.shown.lock().unwrap().push(chain[0].to_vec());
        Ok(each(queries.into_inner(), move |query| {
            let estimate = Estimate { window: fake.window, ..Estimate::default() };
            let result = (!fake.is_later).then_some(answer::Result::Estimate(estimate));
            (!fake.is_silent).then_some(Answer { id: query.id, result })
        }))
    }

    async fn subscribe(
        &self,
        _: Request<SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        if self.is_for_observers {
            return Err(Status::permission_denied("no subscribing"));
        }
        let (out, updates) = tokio::sync::mpsc::channel(1);
        let is_later = self.is_later;
        tokio::spawn(async move {
            if is_later {
                out.send(Ok(Update { what: None })).await.unwrap();
            }
            out.closed().await;
        });
        Ok(Response::new(ReceiverStream::new(updates)))
    }

    async fn forget(&self, _: Request<ForgetRequest>) -> Result<Response<ForgetReply>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn compare(
        &self,
        _: Request<HostComparison>,
    ) -> Result<Response<FleetComparison>, Status> {
        self.compared.fetch_add(1, Ordering::Relaxed);
        Err(self.refuses_sums.map_or_else(|| Status::unimplemented(""), Status::invalid_argument))
    }

    async fn announce(
        &self,
        arrivals: Request<Streaming<Arrival>>,
    ) -> Result<Response<AnnounceReply>, Status> {
        let mut arrivals = arrivals.into_inner();
        while let Some(arrival) = arrivals.message().await? {
            self.arrivals.lock().unwrap().push(arrival);
        }
        Ok(Response::new(AnnounceReply {}))
    }
}

/// Refuses all reports of a batch for a reason of a later version.
fn refused_later(ack: ReportAck) -> ReportAck {
    ReportAck { taken: 0, refused: vec![RefusedReports { why: 99, count: ack.taken }], ..ack }
}

fn question() -> SiteQuestion<()> {
    SiteQuestion { network: "192.0.2.0/24".parse().unwrap(), size: 0, of: () }
}

fn client(config: ClientConfig) -> (SiteClient<()>, mpsc::Receiver<SiteEvent<()>>) {
    let (tell, events) = mpsc::channel();
    let hear = move |event| {
        let is_answer = matches!(event, SiteEvent::Answered(..));
        let _ = tell.send(event);
        is_answer
    };
    (SiteClient::start(config, hear).unwrap(), events)
}

/// Returns the first event for which `wanted` returns a value, within thirty seconds.
fn first<T>(
    events: &mpsc::Receiver<SiteEvent<()>>,
    mut wanted: impl FnMut(SiteEvent<()>) -> Option<T>,
) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let event = events.recv_timeout(left).expect("an event in time");
        if let Some(found) = wanted(event) {
            return found;
        }
    }
}

fn connected(event: SiteEvent<()>) -> Option<String> {
    match event {
        SiteEvent::Connected(gateway) => Some(gateway),
        _ => None,
    }
}

fn window(event: SiteEvent<()>) -> Option<u64> {
    match event {
        SiteEvent::Answered(_, estimate) => Some(estimate.window),
        _ => None,
    }
}

#[test]
fn a_gateway_answers_and_takes_reports() {
    let site = Site::new("answers");
    let fake = Fake { window: 7, ..Fake::default() };
    let (gateway, _runs) = site.serve(fake.clone());
    let (client, events) = client(site.config(&[gateway]));
    first(&events, connected);
    client.ask(question());
    assert_eq!(first(&events, window), 7);
    for _ in 0..3 {
        client.report(Report { window: 5, ..Report::default() });
    }
    assert!(client.flush(Duration::from_secs(30)));
    let batches = fake.batches.lock().unwrap();
    assert_eq!(batches.iter().map(|batch| batch.reports.len()).sum::<usize>(), 3);
    assert!(batches[0].epoch != 0 && batches[0].sequence == 1);
    let status = client.status();
    assert_eq!((status.asked, status.in_time, status.none), (1, 1, 0));
    assert_eq!((status.reports_taken, status.reports_dropped), (3, 0));
}

/// More than one batch is reported while the client still connects.
#[test]
fn what_is_told_before_a_gateway_answers_waits_for_it() {
    let site = Site::new("before");
    let fake = Fake::default();
    let (gateway, _runs) = site.serve(fake.clone());
    let (client, _events) = client(site.config(&[gateway]));
    for _ in 0..4096 {
        client.report(Report { window: 5, ..Report::default() });
    }
    assert!(client.flush(Duration::from_secs(30)));
    let status = client.status();
    assert_eq!((status.reports_taken, status.reports_dropped), (4096, 0));
    let batches = fake.batches.lock().unwrap();
    assert_eq!(batches.iter().map(|batch| batch.reports.len()).sum::<usize>(), 4096);
}

#[test]
fn when_a_gateway_dies_the_next_one_answers_and_gets_what_was_not_acknowledged() {
    let site = Site::new("dies");
    let first_fake = Fake { window: 1, never_acks: true, ..Fake::default() };
    let second_fake = Fake { window: 2, ..Fake::default() };
    let (one, runs) = site.serve(first_fake.clone());
    let (two, _runs) = site.serve(second_fake.clone());
    let (client, events) = client(site.config(&[one.clone(), two.clone()]));
    assert_eq!(first(&events, connected), one);
    client.report(Report { window: 5, ..Report::default() });
    until("it has the report", || !first_fake.batches.lock().unwrap().is_empty());
    drop(runs);
    assert_eq!(first(&events, connected), two);
    client.ask(question());
    assert_eq!(first(&events, window), 2);
    assert!(client.flush(Duration::from_secs(30)));
    let numbers = |fake: &Fake| {
        let batches = fake.batches.lock().unwrap();
        batches.iter().map(|batch| (batch.epoch, batch.sequence)).collect::<Vec<_>>()
    };
    // The numbers are the same, so a gateway that has both counts the batch once.
    assert_eq!(numbers(&first_fake), numbers(&second_fake));
}

/// A gateway refuses sums twice for one reason, which is one event. A gateway of an earlier version
/// causes none, and the connection goes on. A gateway has answered the sums before it receives the
/// first of two questions, so the client has that answer before the second one's.
#[test]
fn sums_that_a_gateway_refuses_are_an_event() {
    for (refuses_sums, events_of) in [(Some("sums of one part twice"), 1), (None, 0)] {
        let site = Site::new("refuses");
        let fake = Fake { window: 7, refuses_sums, ..Fake::default() };
        let (gateway, _runs) = site.serve(fake.clone());
        let (client, events) = client(site.config(&[gateway]));
        first(&events, connected);
        let mut refusals = 0;
        for sums in 1..=2 {
            client.compare(&[]);
            until("it has the sums", || fake.compared.load(Ordering::Relaxed) == sums);
            for _ in 0..2 {
                client.ask(question());
                first(&events, |event| match event {
                    SiteEvent::NotCompared(why) => {
                        assert_eq!(Some(why.as_str()), refuses_sums);
                        refusals += 1;
                        None
                    }
                    SiteEvent::Lost(why) => panic!("{why}"),
                    event => window(event),
                });
            }
        }
        assert_eq!(refusals, events_of);
    }
}

#[test]
fn a_gateway_that_answers_nothing_is_left_within_seconds() {
    let site = Site::new("silent");
    let (one, _runs) = site.serve(Fake { is_silent: true, ..Fake::default() });
    let (two, _runs_too) = site.serve(Fake { window: 2, ..Fake::default() });
    let (client, events) = client(site.config(&[one, two.clone()]));
    first(&events, connected);
    let asked = Instant::now();
    client.ask(question());
    assert_eq!(first(&events, connected), two);
    // The client gives it three quarters of a second and a tick; a busy machine needs more.
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(client.status().none, 1);
}

#[test]
fn without_a_gateway_nobody_waits_and_all_is_counted() {
    let site = Site::new("without");
    // No process listens at a port that was free a moment ago.
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (client, events) = client(site.config(&[nowhere.to_string()]));
    first(&events, |event| matches!(event, SiteEvent::Lost(_)).then_some(()));
    let began = Instant::now();
    for _ in 0..20_000 {
        client.ask(question());
        client.report(Report::default());
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    while client.status().none < 20_000 {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", client.status());
        thread::sleep(Duration::from_millis(5));
    }
    let status = client.status();
    assert_eq!(status.asked, 20_000);
    // Sixteen batches wait, and one more is gathered; the rest is dropped for lack of room.
    assert!(status.reports_dropped >= 20_000 - 17 * 1024, "{status:?}");
    assert!(status.trouble.unwrap().contains(&nowhere.to_string()));
}

#[test]
fn certificates_that_cannot_be_read_are_named() {
    let site = Site::new("unread");
    let mut config = site.config(&["127.0.0.1:1".to_owned()]);
    config.key = site.file("none");
    let why = SiteClient::<()>::start(config, |_| false).unwrap_err();
    assert!(why.contains("none") && why.starts_with("cannot read"), "{why}");
}

#[test]
fn a_gateway_of_another_authority_is_not_believed() {
    let (ours, theirs) = (Site::new("ours"), Site::new("theirs"));
    let (gateway, _runs) = theirs.serve(Fake { window: 1, ..Fake::default() });
    let (_client, events) = client(ours.config(&[gateway]));
    let why = first(&events, |event| match event {
        SiteEvent::Lost(why) => Some(why),
        SiteEvent::Connected(_) => panic!("connected"),
        _ => None,
    });
    assert!(why.contains("certificate"), "{why}");
}

/// Its gateway lets it neither ask nor subscribe, so it must not try. The announcement of a visitor
/// is useless later, so it is dropped while no gateway answers, and a counter shows that.
#[test]
fn an_observer_reports_and_announces_and_opens_no_other_stream() {
    let site = Site::new("observes");
    let fake = Fake { is_for_observers: true, ..Fake::default() };
    let (gateway, runs) = site.serve(fake.clone());
    let (tell, events) = mpsc::channel();
    let hear = move |event| drop(tell.send(event));
    let client = SiteClient::observe(site.config(&[gateway]), hear).unwrap();
    first(&events, |event| match event {
        SiteEvent::Lost(why) => panic!("{why}"),
        event => connected(event),
    });
    let arrival = Arrival { server: vec![192, 0, 2, 1], ..Arrival::default() };
    client.announce(arrival.clone());
    client.report(Report { window: 5, ..Report::default() });
    client.ask(question());
    assert!(client.flush(Duration::from_secs(30)));
    assert_eq!(client.status().reports_taken, 1);
    until("it is announced", || *fake.arrivals.lock().unwrap() == [arrival.clone()]);
    until("the question is given up", || client.status().none == 1);
    assert_eq!(client.unannounced(), 0);
    drop(runs);
    first(&events, |event| matches!(event, SiteEvent::Lost(_)).then_some(()));
    client.announce(arrival.clone());
    until("it is counted", || client.unannounced() == 1);
}

/// Waits until a condition holds, for at most thirty seconds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "not in time: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
