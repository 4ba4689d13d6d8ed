//! Connections that a hooked application opens offer a larger window from their SYN on, if the
//! agent is asked for it, and peers that start warm can use it.
//!
//! 20 Mbit/s, 80 ms. A stock Linux receiver offers 64 KB: 44 segments of 138.

use crate::bed::{Bed, fastest, finish};
use socket2::{Domain, SockRef};
use std::net::TcpStream;
use std::time::Duration;
use test_support::retry_on_stall;

const RTT: Duration = Duration::from_millis(80);
const BYTES: u64 = 200_000;
const WINDOW: usize = 1_000_000;

fn buffer(stream: &TcpStream) -> usize {
    SockRef::from(stream).recv_buffer_size().unwrap()
}

#[test]
fn a_warm_start_reaches_an_attended_client_in_one_flight() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--receive-window", &WINDOW.to_string()]);
        let server = bed.serve(Domain::IPV4, None);
        // The memory learns. Both ends are hooked.
        let cold = bed.visit_hooked(&server, BYTES);
        agent.wait_for_closed(2);
        let before = agent.closed();
        let stock = fastest((1..=3).map(|visits| {
            let time = bed.visit(&server, BYTES);
            agent.wait_for_closed(before + visits);
            time
        }));
        let before = agent.closed();
        let wide = fastest((1..=3).map(|visits| {
            let time = bed.visit_hooked(&server, BYTES);
            agent.wait_for_closed(before + 2 * visits);
            time
        }));
        eprintln!("200 kB: cold {cold:?}, warm to 64 KB {stock:?}, to {WINDOW} bytes {wide:?}");
        // 44 segments, and the other 95 a round trip later: 80 ms more than those of
        // `assert_one_flight`.
        assert!(stock >= 4 * RTT, "{stock:?}");
        assert!(wide >= 3 * RTT && wide < 4 * RTT, "{wide:?}");
    });
}

#[test]
fn only_connections_that_are_attended_to_are_widened_and_none_is_narrowed() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--receive-window", &WINDOW.to_string()]);
        let server = bed.serve(Domain::IPV4, None);
        // The kernel doubles what is asked for.
        let own = bed.open(&server, 1000);
        let wide = bed.open_hooked(&server, 1000);
        assert_eq!(buffer(&wide), 2 * WINDOW);
        assert!(buffer(&own) < WINDOW, "{}", buffer(&own));
        for mut stream in [own, wide] {
            finish(&mut stream, 1000);
        }
        drop(agent);

        // Connections that are to stay stock are not widened.
        let width = WINDOW.to_string();
        for left_alone in [vec!["--dry-run"], vec!["--holdout", "1"]] {
            let _agent = bed.agent(&[&["--receive-window", &width], &left_alone[..]].concat());
            let mut own = bed.open_hooked(&server, 1000);
            assert!(buffer(&own) < WINDOW, "{left_alone:?}: {}", buffer(&own));
            finish(&mut own, 1000);
        }

        let _agent = bed.agent(&["--receive-window", "100000"]);
        bed.widen_receive_window();
        let own = bed.open_hooked(&server, 1000);
        assert!(buffer(&own) > 2_000_000, "{}", buffer(&own));
    });
}
