//! Recordings of common formats, and refusals.

use super::*;
use proptest::prelude::*;

fn read(written: &str, text: &str) -> Result<RecordedLink, String> {
    RecordedLink::read(written, RecordedDirection::Down, &|_| Ok(text.to_owned()))
}

fn file(name: &str, text: &str) -> RecordedLink {
    read(name, text).unwrap_or_else(|error| panic!("{error}"))
}

fn mean(link: &RecordedLink) -> u64 {
    link.trace().mean_rate().as_bps()
}

/// 4,800 opportunities of 1,504 bytes in 2 s: 28,876,800 bit/s.
#[test]
fn opportunities_keep_their_average() {
    let link = file("several-per-ms.trace", include_str!("../../data/several-per-ms.trace"));
    assert_eq!(mean(&link), 28_876_800);
    assert_eq!(link.trace().length(), Duration::from_secs(2));
    assert_eq!(
        link.to_string(),
        "several-per-ms.trace: opportunities of 1504 bytes, 2.0 s, 28.88 Mbit/s on average"
    );
}

/// (20 x 80 + 20 x 20 + 5 x 0 + 15 x 50) / 60 = 45.83 Mbit/s; the uplink has a tenth of it.
#[test]
fn a_drive_has_its_directions_and_its_outage() {
    let text = include_str!("../../data/drive.csv");
    let down = file("drive.csv", text);
    assert_eq!(mean(&down), 45_833_333);
    assert_eq!(down.trace().length(), Duration::from_secs(60));
    assert_eq!(down.trace().outage(), Some(Duration::from_secs(5)));
    assert_eq!(down.trace().peak_rate(), Some(Rate::from_mbps(80)));
    assert_eq!(
        down.to_string(),
        "drive.csv: rates in DL_bitrate (kbit/s), times in Timestamp (date), 60.0 s, \
         45.83 Mbit/s on average, 5.0 s of outage"
    );
    let up = RecordedLink::read("drive.csv", RecordedDirection::Up, &|_| Ok(text.to_owned()));
    let up = up.unwrap();
    assert_eq!(mean(&up), 4_583_333);
    assert_eq!(up.columns().unwrap().rate, "UL_bitrate");
}

/// (13 x 150 + 2 x 60) / 15 = 138 Mbit/s.
#[test]
fn a_satellite_has_its_average() {
    let link = file("satellite.csv", include_str!("../../data/satellite.csv"));
    assert_eq!(mean(&link), 138_000_000);
    assert_eq!(link.trace().length(), Duration::from_secs(60));
    assert_eq!(link.trace().outage(), Some(Duration::ZERO));
}

/// Two seconds at 8 Mbit/s and one at 2 Mbit/s, in the forms that recordings have.
#[test]
fn the_same_rates_in_other_forms() {
    for (written, text) in [
        ("a", "time,bps\n0,8000000\n1,8000000\n2,2000000\n"),
        ("a", "time,kbps\n0,8000\n1,8000\n2,2000\n"),
        ("a", "time_ms;Mbit/s\r\n0;8\r\n1000;8\r\n2000;2\r\n"),
        ("a", "t\tbytes_per_second\n0\t1e6\n1\t1000000\n2\t250000\n"),
        (
            "a",
            "Timestamp,DL_bitrate_Mbps,UL_bitrate_Mbps\n1767268800,8,1\n1767268801,8,1\n1767268802,2,1\n",
        ),
        (
            "a",
            "timestamp,throughput_kbps,rsrp\n1767268800000,8000,-80\n1767268801000,8000,-\n1767268802000,2000,-\n",
        ),
        ("a", "# a drive\n\ntime (s);throughput (Mbit/s)\n0,0;8,0\n1,0;8,0\n2,0;2,0\n"),
        (
            "a",
            "Date,Time,Downlink Mbps,Uplink Mbps\n1/1,12:00:00,8,1\n1/1,12:00:01,8,1\n1/1,12:00:02,2,1\n",
        ),
        // Indented comments, and lines of blanks.
        ("a", "time\tMbps\n0\t8\n  # a tunnel\n \t\n1\t8\n2\t2\n"),
        ("a", "  # a drive\ntime,Mbps\n0,8\n1,8\n  \n2,2\n"),
        ("a", "\u{feff}\"time\",\"rate, Mbit/s\"\n\"0\",\"8\"\n\"1\",\"8\"\n\"2\",\"2\"\n"),
        ("a", "time   Mbps\n0      8\n1      8\n2      2\n"),
        (
            "a",
            "time,MB/s\n2026-01-01T12:00:00Z,1\n2026-01-01T12:00:01Z,1\n2026-01-01T12:00:02Z,0.25\n",
        ),
        ("a:unit=Mbit/s", "time,throughput\n0,8\n1,8\n2,2\n"),
        ("a:column=x:unit=Mbit/s", "time,x,y\n0,8,1\n1,8,1\n2,2,1\n"),
        ("a:column=2:unit=kbit/s:time=1", "0,8000\n1,8000\n2,2000\n"),
        ("a:time-unit=ms:unit=mbps", "time,rate\n0,8\n20,8\n40,2\n"),
        ("a:time=when", "time,when,Mbps\nx,0,8\ny,1,8\nz,2,2\n"),
        // The first two rows have one time: they share the two seconds to the third.
        ("a", "time,Mbps\n0,6\n0,10\n2,2\n2.5,2\n3,2\n"),
    ] {
        let link = file(written, text);
        let trace = link.trace();
        let shape = (mean(&link), trace.peak_rate().unwrap().as_bps() >= 8_000_000);
        let expected = match trace.length().as_secs_f64() {
            // The fourth row of the last case lasts for half a second, as the typical one does.
            length if (length - 3.5).abs() < 1e-9 => (5_428_571, true),
            _ => (6_000_000, true),
        };
        assert_eq!(shape, expected, "{text:?}");
    }
}

#[test]
fn rows_last_until_the_next() {
    let link = file("a", "time,Mbps\n0,8\n1,4\n2,0\n9,8\n10,8\n");
    // 8 + 4 + 7 x 0 + 8 + 8 in 11 s.
    assert_eq!(link.trace().length(), Duration::from_secs(11));
    assert_eq!(mean(&link), 28_000_000 / 11);
    assert_eq!(link.columns().unwrap().longest, Some(Duration::from_secs(7)));
    assert!(link.to_string().ends_with("7.0 s of outage, one row lasts 7.0 s"), "{link}");
}

#[test]
fn errors_name_file_line_columns_and_the_way_out() {
    for (written, text, line, hints) in [
        ("a", "time,x\n0,1\n", 1, &["no column of rates", "time, x", "column=NAME"][..]),
        ("a", "time,throughput\n0,1\n1,1\n", 1, &["unit of column throughput", "unit=Mbit/s"]),
        ("a", "time,MBPS\n0,1\n1,1\n", 1, &["no column of rates", "MBPS"]),
        ("a", "time,wifi_Mbps,lte_Mbps\n0,1,1\n", 1, &["wifi_Mbps, lte_Mbps", "column="]),
        ("a", "when,Mbps\n0,1\n", 1, &["no column of times", "when, Mbps", "time=NAME"]),
        ("a", "time_s,ts,Mbps\n0,0,1\n", 1, &["time_s, ts", "choose one by time=NAME"]),
        ("a:column=rate", "time,Mbps\n0,1\n", 1, &["no column \"rate\"", "time, Mbps", "number"]),
        ("a:column=3", "time,Mbps\n0,1\n", 1, &["no column \"3\""]),
        ("a", "0,1\n1,1\n", 1, &["2 columns and no header", "column=NAME"]),
        ("a", "\n0 1\n1 1\n", 2, &["2 columns and no header"]),
        ("a", "time,Mbps\n0,1\n20,1\n", 2, &["seconds or milliseconds", "time-unit=s"]),
        ("a", "time,Mbps\n0,1\n1,-1\n", 3, &["\"-1\"", "Mbit/s", "mend the row"]),
        ("a", "time,Mbps\n0,1\n1,\n", 3, &["\"\" in column Mbps"]),
        ("a", "time,Mbps\n0,1\n\n1,200000\n", 4, &["from 0 to 100gbit"]),
        ("a", "# x\n\ntime,Mbps\n0,1\n# y\n\n1,-1\n", 7, &["\"-1\""]),
        ("a", "time,Mbps\n1,1\n0,1\n", 3, &["before that of the row above", "sort"]),
        ("a", "time,Mbps\n0,1\nx,1\n", 3, &["\"x\" in column time is not a number", "time="]),
        ("a", "time,Mbps\n1.1.26,1\n", 2, &["not a date and time", "2026-01-31"]),
        ("a", "time,Mbps\n0,1\n1,1,1\n", 3, &["3 fields", "the first has 2"]),
        ("a", "time,Mbps\n1,1\n1,1\n", 3, &["two rows with different times"]),
        ("a", "time,Mbps\n", 1, &["two rows with different times"]),
        ("a", "time,Mbps\n0,0\n1,0\n", 3, &["0 in all rows"]),
        ("a", "", 1, &["the trace is empty"]),
        ("a", "17\n16\n", 2, &["must not go back"]),
    ] {
        let error = read(written, text).unwrap_err();
        assert!(error.starts_with(&format!("a:{line}: ")), "{text:?}: {error}");
        assert!(hints.iter().all(|hint| error.contains(hint)), "{text:?}: {error}");
    }
    let missing = RecordedLink::read("b", RecordedDirection::Down, &|name| Err(format!("{name}?")));
    assert_eq!(missing, Err("b?".to_owned()));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-zA-Z,;:\t\n\" ./#-]{0,80}") {
        let _ = read("a", &format!("time,Mbps\n{text}"));
        let _ = read("a:column=2:unit=kbps", &text);
        let _ = read("a", &text);
    }

    /// All recorded bits pass: a cycle moves the bits of all rows.
    #[test]
    fn a_cycle_moves_what_its_rows_say(kbps in prop::collection::vec(0u64..1_000_000, 2..40)) {
        let rows: String = (0..).zip(&kbps).map(|(n, rate)| format!("{n},{rate}\n")).collect();
        let Ok(link) = read("a", &format!("time,kbps\n{rows}")) else {
            prop_assert!(kbps.iter().all(|rate| *rate == 0));
            return Ok(());
        };
        let bytes = kbps.iter().sum::<u64>() * 125;
        let passed = link.trace().passed(units::Instant::ZERO, bytes);
        let last = kbps.iter().rposition(|rate| *rate > 0).unwrap() as u64 + 1;
        prop_assert_eq!(passed, units::Instant::ZERO + Duration::from_secs(last));
    }
}
