//! A connection to a gateway that can be cut or delayed: it passes bytes between two sockets. A cut
//! notifies neither end, like a failed network.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which a cut wire looks whether it is whole again.
const GLANCE: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
struct State {
    is_cut: AtomicBool,
    delay_ms: AtomicU64,
    is_over: AtomicBool,
}

/// A way to a gateway.
pub(super) struct Wire {
    pub(super) address: SocketAddr,
    state: Arc<State>,
}

impl Wire {
    /// A wire to the server at `end`.
    pub(super) fn to(end: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let (end, of_all) = (end.to_owned(), Arc::clone(&state));
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                if of_all.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (end, state) = (end.clone(), Arc::clone(&of_all));
                thread::spawn(move || join(&near, &end, &state));
            }
        });
        Self { address, state }
    }

    /// Cuts the wire without notifying either end, or joins it again.
    pub(super) fn cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::Relaxed);
    }

    /// Bytes take so long each way from now on.
    pub(super) fn delay(&self, delay: Duration) {
        let delay = u64::try_from(delay.as_millis()).unwrap();
        self.state.delay_ms.store(delay, Ordering::Relaxed);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // The connection wakes up the accepting thread, which sees the flag.
        let _ = TcpStream::connect(self.address);
    }
}

fn join(near: &TcpStream, end: &str, state: &Arc<State>) {
    wait_until_whole(state);
    let Ok(far) = TcpStream::connect(end) else { return };
    for (from, to) in [(near, &far), (&far, near)] {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let state = Arc::clone(state);
        thread::spawn(move || carry(from, to, &state));
    }
}

fn wait_until_whole(state: &State) {
    while state.is_cut.load(Ordering::Relaxed) && !state.is_over.load(Ordering::Relaxed) {
        thread::sleep(GLANCE);
    }
}

/// Carries bytes until either end closes.
#[expect(clippy::disallowed_methods, reason = "a wire is as long as real time says")]
fn carry(mut from: TcpStream, mut to: TcpStream, state: &Arc<State>) {
    let (send, under_way) = mpsc::channel::<(Instant, Vec<u8>)>();
    let of_end = Arc::clone(state);
    let far = thread::spawn(move || {
        for (due, bytes) in under_way {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            wait_until_whole(&of_end);
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let delay = Duration::from_millis(state.delay_ms.load(Ordering::Relaxed));
        if send.send((Instant::now() + delay, bytes[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(send);
    let _ = far.join();
}
