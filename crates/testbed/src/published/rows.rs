//! The measurements.

use super::{MeasuredVisit, Measurement, PublishedFigure, Unit};

/// HTML, ten scripts of which each imports the next, and an image, as a recording.
const CHAIN: &str = include_str!("chain.har");

const fn seconds(published: f64, race: &'static str) -> PublishedFigure {
    PublishedFigure {
        published: (published, published),
        unit: Unit::Seconds,
        race,
        visit: MeasuredVisit::First,
        input: None,
    }
}

/// The time of a visit over a connection that is open already.
const fn kept_alive_figure(low: f64, high: f64, race: &'static str) -> PublishedFigure {
    PublishedFigure { published: (low, high), visit: MeasuredVisit::Repeated, ..seconds(low, race) }
}

const fn goodput(mbit: f64, race: &'static str) -> PublishedFigure {
    PublishedFigure { unit: Unit::GoodputMbit, ..seconds(mbit, race) }
}

/// All measurements.
pub const MEASUREMENTS: &[Measurement] = &[
    Measurement {
        name: "satellite",
        source: "picoquic, pull request 491 (2019)",
        about: "1 MB over a new connection at 10 Mbit/s, 600 ms",
        figures: &[seconds(5.0, "1MB --path 10mbit,600ms,1bdp --schemes linux")],
        remark: "The queue is not published.",
    },
    Measurement {
        name: "long-path",
        source: "quiche, issue 1400 (2023)",
        about: "20 MB; 100 Mbit/s, 2 ms, then 10 Mbit/s, 150 ms, queues of 140 packets; TCP fills 10 Mbit/s",
        figures: &[goodput(10.0, "20MB --path 10mbit,152ms,140p --schemes linux")],
        remark: "10 Mbit/s with headers, of which 9.5 are payload.",
    },
    Measurement {
        name: "block",
        source: "ouroboros-consensus, issue 1756 (2025)",
        about: "12.5 MB at 100 Mbit/s, 20 ms: ideal, and shaped",
        figures: &[PublishedFigure {
            published: (1.0, 1.3),
            ..seconds(1.0, "12.5MB --path 100mbit,20ms,1bdp --schemes linux")
        }],
        remark: "",
    },
    Measurement {
        name: "repeated-megabyte",
        source: "nim-libp2p, issue 850 (2023)",
        about: "Five times 1 MB on one connection, 20 ms: 161 ms, then 32, 19, 18, 19 ms",
        figures: &[
            seconds(
                0.161,
                "1MB --path 10gbit,20ms,10000p --schemes linux+rwnd=6MB --visits 5 --idle 0",
            ),
            kept_alive_figure(
                0.018,
                0.032,
                "1MB --path 10gbit,20ms,10000p --schemes linux+rwnd=6MB --visits 5 --idle 0",
            ),
        ],
        remark: "The path is a local network; its rate is not published.",
    },
    Measurement {
        name: "after-idle",
        source: "grpc-go, issues 5599 (2022) and 8436 (2025)",
        about: "Answers after idle time, 220 ms: below 16 kB, of 30 kB, above 100 kB",
        figures: &[
            kept_alive_figure(
                0.220,
                0.240,
                "10kB --path 1gbit,220ms,1bdp --schemes linux --visits 2 --idle 5",
            ),
            kept_alive_figure(
                0.440,
                0.440,
                "30kB --path 1gbit,220ms,1bdp --schemes linux --visits 2 --idle 5",
            ),
            kept_alive_figure(
                0.650,
                0.650,
                "100kB --path 1gbit,220ms,1bdp --schemes linux --visits 2 --idle 5",
            ),
        ],
        remark: "The idle time is not published.",
    },
    Measurement {
        name: "warm-connection",
        source: "grpc-go, pull request 1310 (2017)",
        about: "1 kB to 100 kB, and 1 MB, on a warm connection, 152 ms",
        figures: &[
            kept_alive_figure(
                0.152,
                0.152,
                "100kB --path 1gbit,152ms,1bdp --schemes linux+iw=1000+rwnd=6MB --visits 2 --idle 0",
            ),
            kept_alive_figure(
                0.156,
                0.156,
                "1MB --path 1gbit,152ms,1bdp --schemes linux+iw=1000+rwnd=6MB --visits 2 --idle 0",
            ),
        ],
        remark: "A window that is open already stands for the transfers before.",
    },
    Measurement {
        name: "small-windows",
        source: "NUSspli, pull request 491 (2026)",
        about: "Receive windows of 64 KiB at 95 ms and at 10 ms, of 256 KiB at 95 ms",
        figures: &[
            goodput(5.5, "20MB --path 1gbit,95ms,1bdp --schemes linux --client-window 64KiB"),
            goodput(52.0, "20MB --path 1gbit,10ms,1bdp --schemes linux --client-window 64KiB"),
            goodput(22.0, "20MB --path 1gbit,95ms,1bdp --schemes linux --client-window 256KiB"),
        ],
        remark: "",
    },
    Measurement {
        name: "imports",
        source: "lighthouse, issue 15897 (2024)",
        about: "HTML, ten scripts of which each imports the next, an image; 150 ms; at least 2.25 s",
        figures: &[PublishedFigure {
            input: Some(CHAIN),
            ..seconds(2.25, "- --path 100mbit,150ms,1bdp --dns 150ms --schemes linux")
        }],
        remark: "A name lookup takes a round trip.",
    },
    Measurement {
        name: "capped-window",
        source: "pilot-protocol, pull request 446 (2026)",
        about: "A window of 128 KB, 100 ms: 1.3 MB/s",
        figures: &[goodput(10.4, "13MB --path 1gbit,100ms,1bdp --schemes linux+rwnd=128KiB")],
        remark: "",
    },
    Measurement {
        name: "send-buffer",
        source: "plantegg (2020)",
        about: "22 MB at 100 Mbit/s, 20 ms, SO_SNDBUF of 16 KB; and with the default",
        figures: &[
            seconds(25.0, "22MB --path 100mbit,20ms,1bdp --schemes linux+window=12"),
            seconds(2.0, "22MB --path 100mbit,20ms,1bdp --schemes linux"),
        ],
        remark: "Linux doubles the size. 32 KiB hold 14 segments of 2,304 bytes of memory, and the writer is \
                 woken when a third is free: 12 on average.",
    },
    Measurement {
        name: "slow-start",
        source: "SUSS, SIGCOMM 2024",
        about: "50 Mbit/s, 100 ms, queue of 413 packets: time of 5 MB, packets lost of 20 MB",
        figures: &[
            seconds(1.5, "5MB --path 50mbit,100ms,413p --schemes linux"),
            PublishedFigure {
                unit: Unit::Drops,
                ..seconds(
                    1105.0,
                    "20MB --path 50mbit,100ms,413p --schemes linux+startup=slowstart-linux",
                )
            },
        ],
        remark: "1,105 losses are those of a slow start that fills the queue, so HyStart is off. With it 42 \
                 packets are lost.",
    },
    Measurement {
        name: "certificates",
        source: "arXiv 2604.24869 (2026)",
        about: "TLS 1.3 with chains of certificates, first window of 10: a round trip more near 10 KB and near 40 KB",
        figures: &[
            seconds(
                0.3,
                "1kB --path 100mbit,100ms,1bdp --schemes linux --tls 1.3 --tls-flight 9kB",
            ),
            seconds(
                0.4,
                "1kB --path 100mbit,100ms,1bdp --schemes linux --tls 1.3 --tls-flight 20kB",
            ),
            seconds(
                0.4,
                "1kB --path 100mbit,100ms,1bdp --schemes linux --tls 1.3 --tls-flight 38kB",
            ),
            seconds(
                0.5,
                "1kB --path 100mbit,100ms,1bdp --schemes linux --tls 1.3 --tls-flight 50kB",
            ),
        ],
        remark: "The publication has the steps, and these are times of 3, 4 and 5 round trips.",
    },
];
