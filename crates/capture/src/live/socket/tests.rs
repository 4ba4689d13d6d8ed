//! The kernel's drops are reported, in a network namespace of the test's own.

use super::*;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::setsockopt;
use std::process::Command;
use std::thread;
use test_support::Need;

/// The kernel sees 2,000 packets (1,000 datagrams, sent and received). The number of drops is exact
/// up to the last one, although no packet follows it. Received and dropped ones add up to all
/// packets and the socket's own probe.
#[test]
fn no_packet_is_missed_without_being_counted() {
    if !test_support::has(&[Need::Namespaces, Need::Program("ip")]) {
        return;
    }
    let counted = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap();
        assert!(up.success());
        let mut socket = PacketSocket::open(&accept_all(), 64).unwrap();
        setsockopt(&socket.socket, RcvBufForce, &(64 << 10)).unwrap();
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        (0..1_000).for_each(|_| assert_eq!(sender.send_to(&[7; 100], to).unwrap(), 100));
        socket.close().unwrap();
        let mut received = 0;
        while socket.receive(Duration::ZERO, |_, _| received += 1).unwrap() {}
        socket.read_losses().unwrap();
        (received, socket.dropped())
    });
    let (received, dropped) = counted.join().unwrap();
    assert!(received > 0 && dropped > 0, "{received} received, {dropped} dropped");
    assert_eq!(received + dropped, 2_000);
}
