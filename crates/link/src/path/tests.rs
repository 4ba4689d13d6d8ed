use super::*;
use proptest::prelude::*;

fn error(text: &str) -> PathError {
    text.parse::<PathSpec>().unwrap_err()
}

#[test]
fn reads_what_people_write() {
    let path: PathSpec = "20mbit,80ms,100p".parse().unwrap();
    assert_eq!((path.down(), path.up()), (Rate::from_mbps(20), Rate::from_mbps(20)));
    assert_eq!(path.rtt(), Duration::from_millis(80));
    assert_eq!(path.queue(), QueueSize::Packets(100));
    assert_eq!(path.loss(), 0.0);
    let path: PathSpec = "20mbit, 80ms, 64kB, loss=1%, up=1.5mbit".parse().unwrap();
    assert_eq!(path.up(), Rate::from_bps(1_500_000));
    assert_eq!(path.queue(), QueueSize::Bytes(64_000));
    assert_eq!(path.loss(), 0.01);
}

#[test]
fn a_discipline_is_named_among_the_options() {
    let path: PathSpec = "20mbit,80ms,100p".parse().unwrap();
    assert_eq!(path.discipline(), Discipline::DropTail);
    let path: PathSpec = "20mbit,80ms,100p,up=2mbit,fq_codel".parse().unwrap();
    assert_eq!(path.discipline().name(), "fq_codel");
    assert_eq!(path.links().reverse.discipline(), path.discipline());
    assert_eq!(path.to_string(), "20mbit,80ms,100p,fq_codel,up=2mbit");
}

#[test]
fn a_bandwidth_delay_product_is_of_each_direction() {
    let path: PathSpec = "20mbit,80ms,0.5bdp,up=2mbit".parse().unwrap();
    // 20e6 * 0.08 / 8 = 200,000 bytes, half of it down; a tenth of that up.
    assert_eq!(path.links().forward.queue(), QueueLimit::Bytes(100_000));
    assert_eq!(path.links().reverse.queue(), QueueLimit::Bytes(10_000));
}

/// 50 ms at 20 Mbit/s are 125,000 bytes, at 2 Mbit/s 12,500.
#[test]
fn a_queue_may_be_a_time() {
    let path: PathSpec = "20mbit,80ms,50ms,up=2mbit".parse().unwrap();
    assert_eq!(path.links().forward.queue(), QueueLimit::Bytes(125_000));
    assert_eq!(path.links().reverse.queue(), QueueLimit::Bytes(12_500));
}

#[test]
fn jitter_in_order_is_in_both_directions() {
    let path: PathSpec = "20mbit,80ms,9p,ordered-jitter=5ms".parse().unwrap();
    let links = path.links();
    let up_to = Some(Duration::from_millis(5));
    assert_eq!([links.forward.ordered_jitter(), links.reverse.ordered_jitter()], [up_to; 2]);
    assert_eq!(error("20mbit,80ms,9p,ordered-jitter=5").key(), "ordered-jitter");
}

/// Half of each round trip is the delay of either direction. A load that begins at 3 s of the
/// links' clocks has its steps 3 s later. The smallest and the largest are of all three.
#[test]
fn a_round_trip_that_changes_is_in_both_directions() {
    let path: PathSpec = "20mbit,80ms,9p,rtt-steps=2s:21ms/4s:300ms".parse().unwrap();
    assert_eq!(path.to_string(), "20mbit,80ms,9p,rtt-steps=2s:21ms/4s:300ms");
    let of_load = path.with_steps_from(Instant::ZERO + Duration::from_secs(3));
    let steps = |link: &LinkConfig| link.delay_steps().unwrap().to_string();
    let links = of_load.links();
    assert_eq!(steps(&links.forward), "5s:10500us/7s:150ms");
    assert_eq!(steps(&links.reverse), "5s:10500us/7s:150ms");
    assert_eq!(steps(&path.links().forward), "2s:10500us/4s:150ms");
    let extremes = (path.least_rtt(), path.greatest_rtt());
    assert_eq!(extremes, (Duration::from_millis(21), Duration::from_millis(300)));
    // 40 ms become 15: 25 ms less at each step, and never less than nothing.
    let nearer = links.forward.with_delay(Duration::from_millis(15));
    assert_eq!(steps(&nearer), "5s:0s/7s:125ms");
    assert_eq!(error("20mbit,80ms,9p,rtt-steps=2s").key(), "rtt-steps");
}

/// Half of 80 ms, and of each later round trip.
#[test]
fn half_the_round_trip_is_half_at_all_times() {
    let path: PathSpec = "20mbit,80ms,9p,rtt-steps=2s:21ms/4s:300ms".parse().unwrap();
    let nearer = path.with_half_the_rtt().unwrap();
    assert_eq!(nearer.to_string(), "20mbit,40ms,9p,rtt-steps=2s:10500us/4s:150ms");
}

/// A recorded rate and jitter in order go together: the trace says when a packet leaves, and the
/// draw how much later it arrives.
#[test]
fn a_recording_takes_jitter() {
    let path: PathSpec = "mobile,40ms,9p,ordered-jitter=5ms".parse().unwrap();
    let link = path.links().forward;
    assert!(link.rate_trace().is_some());
    assert_eq!(link.ordered_jitter(), Some(Duration::from_millis(5)));
}

#[test]
fn an_odd_nanosecond_of_the_round_trip_is_not_lost() {
    let path: PathSpec = "1mbit,101ns,inf".parse().unwrap();
    let delays = path.delays();
    assert_eq!((delays.forward.as_nanos(), delays.reverse.as_nanos()), (50, 51));
}

#[test]
fn impossible_paths_are_refused_by_the_key_that_is_wrong() {
    for (text, key) in [
        ("", "rate"),
        ("20,80ms,100p", "rate"),
        ("0mbit,80ms,100p", "rate"),
        ("101gbit,80ms,100p", "rate"),
        ("20mbit", "rtt"),
        ("20mbit,-80ms,100p", "rtt"),
        ("20mbit,80,100p", "rtt"),
        ("20mbit,80ms", "queue"),
        ("20mbit,80ms,", "queue"),
        ("20mbit,80ms,0p", "queue"),
        ("20mbit,80ms,-1p", "queue"),
        ("20mbit,80ms,+1p", "queue"),
        ("20mbit,80ms,0B", "queue"),
        ("20mbit,80ms,0bdp", "queue"),
        // No delay, no product.
        ("20mbit,0ms,1bdp", "queue"),
        ("20mbit,80ms,lots", "queue"),
        ("20mbit,80ms,0ms", "queue"),
        ("20mbit,80ms,1p,up=0bit", "up"),
        ("20mbit,80ms,1p,up=", "up"),
        ("20mbit,80ms,1p,loss=1", "loss"),
        ("20mbit,80ms,1p,loss=100%", "loss"),
        ("20mbit,80ms,1p,loss=-0.1", "loss"),
        ("20mbit,80ms,1p,loss=nan", "loss"),
        ("20mbit,80ms,1p,loss", "loss"),
        ("20mbit,80ms,1p,jitter=1ms", "path"),
        ("20mbit,80ms,1p,up=1mbit,up=2mbit", "path"),
        ("20mbit,80ms,9p,codel,red", "path"),
        ("20mbit,80ms,9p,fifo", "path"),
        ("20mbit,80ms,9p,codel=on", "path"),
        ("20mbit,80ms,inf,pdrop", "discipline"),
        ("20mbit,80ms,1p,red", "discipline"),
    ] {
        assert_eq!(error(text).key(), key, "{text:?}: {}", error(text));
    }
}

#[test]
fn errors_name_the_key_and_the_way_out() {
    let text = error("20mbit,80ms,0p").to_string();
    assert!(text.starts_with("queue:") && text.contains("at least 1"), "{text}");
    let text = error("20mbit,80ms").to_string();
    assert!(text.contains("like 20mbit,80ms,100p"), "{text}");
    let text = error("20mbit,80ms,inf,pdrop").to_string();
    assert!(text.starts_with("discipline: pdrop") && text.contains("a size"), "{text}");
    let text = error("20mbit,80ms,9p,fifo").to_string();
    assert!(text.contains("\"fifo\"") && text.contains("fq_codel"), "{text}");
}

#[test]
fn every_preset_can_exist_and_names_are_unique() {
    for (n, preset) in PRESETS.iter().enumerate() {
        let spec = preset.spec();
        assert!(spec.down() >= spec.up(), "{}", preset.name);
        assert!(PRESETS[..n].iter().all(|other| other.name != preset.name));
    }
    assert!(preset(DEFAULT_PRESET).is_some());
    assert!(preset("carrier-pigeon").is_none());
}

proptest! {
    /// The printed form is read back as the same path.
    #[test]
    fn shows_itself_as_it_is_read(
        (down, up, rtt) in (10_000u64..10_000_000_000, 10_000u64..10_000_000_000, 1u64..10_000_000_000),
        queue in prop_oneof![
            (1u32..).prop_map(QueueSize::Packets),
            (1u64..1 << 40).prop_map(QueueSize::Bytes),
            (1u64..1 << 30).prop_map(|n| QueueSize::Time(Duration::from_nanos(n << 20))),
            Just(QueueSize::Unlimited),
        ],
        (loss, jitter) in (0.0f64..1.0, 0u64..1_000_000),
        discipline in prop::sample::select(vec!["droptail", "codel", "fq_codel", "acks-first"]),
    ) {
        let path = PathSpec::new(Rate::from_bps(down), Duration::from_nanos(rtt), queue)
            .and_then(|p| p.with_up(Rate::from_bps(up)))
            .and_then(|p| p.with_loss(loss)?.with_discipline(discipline.parse().unwrap()))
            .unwrap()
            .with_ordered_jitter(Duration::from_nanos(jitter));
        prop_assert_eq!(path.to_string().parse::<PathSpec>(), Ok(path));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-zA-Z=.,%-]{0,30}") {
        let _ = text.parse::<PathSpec>();
    }
}

/// The mobile downlink has its own rate up. Its text is read back.
#[test]
fn a_mobile_path_is_named_and_read_back() {
    let path: PathSpec = "mobile,50ms,200p,loss=0.001".parse().unwrap();
    assert_eq!(path.to_string(), "mobile,50ms,200p,loss=0.001");
    assert_eq!(path.up(), Rate::from_mbps(5));
    let links = path.links();
    assert!(links.forward.rate_trace().is_some() && links.reverse.rate_trace().is_none());
    let later = path.beginning_at(Duration::from_secs(17));
    assert_eq!(later.links().forward.trace_offset(), Duration::from_secs(17));
    assert_eq!(later.links().reverse, links.reverse);
    let plain: PathSpec = "20mbit,80ms,100p".parse().unwrap();
    assert_eq!(plain.beginning_at(Duration::from_secs(17)).links(), plain.links());
}

const DRIVE: &str = include_str!("../../data/drive.csv");

fn recorded(text: &str) -> Result<PathSpec, PathError> {
    PathSpec::read(text, &|name| match name {
        "drive.csv" => Ok(DRIVE.to_owned()),
        _ => Err(format!("{name}: no such file")),
    })
}

/// 45.83 Mbit/s on average: a bandwidth-delay product of 100 ms is 572,916 bytes. The uplink has a
/// fifth.
#[test]
fn a_recorded_path_has_the_means_of_its_recordings() {
    let path = recorded("trace=drive.csv,100ms,1bdp").unwrap();
    assert_eq!((path.down().as_bps(), path.up().as_bps()), (45_833_333, 9_166_666));
    assert_eq!(path.links().forward.queue(), QueueLimit::Bytes(572_916));
    assert_eq!(path.links().reverse.rate_trace(), None);
    assert_eq!(path.trace_length(), Some(Duration::from_secs(60)));
    assert_eq!(path.trace_start(), TraceStart::Anywhere);
    let both = recorded("trace=drive.csv,100ms,9p,up=trace=drive.csv,from=40s").unwrap();
    assert_eq!(both.up().as_bps(), 4_583_333);
    let offset = Duration::from_secs(40);
    assert_eq!(both.trace_start(), TraceStart::Load(offset));
    let links = both.links();
    assert!(links.reverse.rate_trace().is_some());
    assert_eq!([links.forward.trace_offset(), links.reverse.trace_offset()], [offset; 2]);
    assert!(
        both.is_changing() && both.with_up(Rate::from_mbps(1)).unwrap().recorded_up().is_none()
    );
}

#[test]
fn a_recorded_path_is_shown_as_it_is_read() {
    for text in [
        "trace=drive.csv,20ms,100p",
        "trace=drive.csv:column=DL_bitrate:unit=kbit/s,20ms,100p,codel,up=5mbit,from=12s,loss=0.01",
        "20mbit,20ms,100p,up=trace=drive.csv",
    ] {
        assert_eq!(recorded(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_recording_is_refused_with_the_part_that_is_wrong() {
    for (text, key, hint) in [
        ("trace=no.csv,20ms,9p", "rate", "no.csv: no such file"),
        ("trace=drive.csv:column=x,20ms,9p", "rate", "drive.csv:1: there is no column \"x\""),
        ("9mbit,20ms,9p,up=trace=no.csv", "up", "no.csv: no such file"),
        ("trace=drive.csv,20ms,9p,from=3", "from", "like 80ms"),
        ("9mbit,20ms,9p,from=3s", "from", "is for a recorded rate"),
        ("trace=drive.csv,20ms,9p,from=3s,from=4s", "path", "from is given twice"),
        ("trace=drive.csv,20ms", "queue", "RATE may be trace=FILE"),
    ] {
        let error = recorded(text).unwrap_err();
        assert_eq!(error.key(), key, "{text}: {error}");
        assert!(error.to_string().contains(hint), "{text}: {error}");
    }
    assert!(error("trace=drive.csv,20ms,9p").to_string().contains("write a rate"));
}

#[test]
fn both_rates_are_multiplied_and_a_queue_in_bdp_grows_with_them() {
    let path: PathSpec = "20mbit,80ms,1bdp,up=5mbit".parse().unwrap();
    let doubled = path.with_rates_times(2).unwrap();
    assert_eq!(doubled.to_string(), "40mbit,80ms,1bdp,up=10mbit");
    assert_eq!(doubled.queue_limit(doubled.down()), QueueLimit::Bytes(400_000));
    assert_eq!(path.with_rates_times(u64::MAX), None);
    assert_eq!("mobile,80ms,100p".parse::<PathSpec>().unwrap().with_rates_times(2), None);
}
