//! The network in which gateways and agents speak with each other: a namespace of its own, with a
//! name server.

use emulator::Namespace;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Port at which gateways listen, each at an address of its own.
pub(super) const PORT: u16 = 9466;
/// Service whose only server is the gateway's host.
pub(super) const SERVICE: &str = "_headstart._tcp.fleet.test";
/// Host whose address is the gateway's.
pub(super) const HOST: &str = "gateway.fleet.test";

/// The lookup of processes that run here. Their name server is the one below.
const FILES: [(&str, &str); 2] =
    [("/etc/resolv.conf", "nameserver 127.0.0.1\n"), ("/etc/nsswitch.conf", "hosts: files dns\n")];
/// Types of records (RFC 1035 §3.2.2, RFC 2782), and the class Internet.
const A: u16 = 1;
const SRV: u16 = 33;
const INTERNET: u16 = 1;
/// Bytes of a message's header (RFC 1035 §4.1.1).
const HEADER: usize = 12;

/// A host and its address.
pub(super) type NamedHost = (&'static str, Ipv4Addr);

/// Records of the name server.
#[derive(Debug, Default)]
struct Zone {
    /// Host of [`SERVICE`].
    server: String,
    addresses: BTreeMap<String, Ipv4Addr>,
}

/// A network namespace, with a name server at its loopback address.
pub(super) struct ControlNetwork {
    pub(super) namespace: Namespace,
    zone: Arc<Mutex<Zone>>,
    folder: PathBuf,
}

impl ControlNetwork {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            env::temp_dir().join(format!("headstart-control_network-{}-{number}", process::id()));
        fs::create_dir(&folder).unwrap();
        let namespace = Namespace::new().unwrap();
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)).unwrap();
        let (socket, zone) = (namespace.run(bind).unwrap(), Arc::<Mutex<Zone>>::default());
        let weak = Arc::downgrade(&zone);
        std::thread::spawn(move || serve(&socket, &weak));
        Self { namespace, zone, folder }
    }

    /// From now on [`HOST`] is at this address, and the server of [`SERVICE`] is `host` there.
    pub(super) fn name(&self, (host, address): NamedHost) {
        let mut zone = self.zone.lock().unwrap();
        zone.server = host.to_owned();
        zone.addresses.extend([host, HOST].map(|name| (name.to_owned(), address)));
    }

    /// Runs a job here. Processes that it starts look names up at the name server.
    pub(super) fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        let in_namespace = || {
            // The files are replaced for this thread, and for the processes that it starts.
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            mount_at(None, "/", MsFlags::MS_REC | MsFlags::MS_PRIVATE);
            for (file, text) in FILES {
                let ours = self.folder.join(Path::new(file).file_name().unwrap());
                fs::write(&ours, text).unwrap();
                mount_at(Some(&ours), file, MsFlags::MS_BIND);
            }
            job()
        };
        self.namespace.run(in_namespace).unwrap()
    }
}

impl Drop for ControlNetwork {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn mount_at(from: Option<&Path>, to: &str, flags: MsFlags) {
    mount(from, to, None::<&str>, flags, None::<&str>).unwrap();
}

/// Answers questions by UDP as long as the zone lives.
fn serve(socket: &UdpSocket, zone: &Weak<Mutex<Zone>>) {
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut question = [0; 512];
    while let Some(zone) = zone.upgrade() {
        if let Ok((length, asker)) = socket.recv_from(&mut question) {
            let answer = answer(&question[..length], &zone.lock().unwrap());
            let _ = socket.send_to(&answer, asker);
        }
    }
}

/// The answer to a question (RFC 1035 §4.1). A name without a record of the type has no answer.
fn answer(question: &[u8], zone: &Zone) -> Vec<u8> {
    let (name, end) = name_in(question);
    let asked_type = u16::from_be_bytes([question[end], question[end + 1]]);
    let data = match asked_type {
        A => zone.addresses.get(&name).map(|address| address.octets().to_vec()),
        SRV if name == SERVICE => Some(service_data(&zone.server)),
        _ => None,
    };
    let mut answer = question[..2].to_vec();
    // A reply to a recursive question, one question, and the number of answers.
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(data.is_some()), 0, 0, 0, 0]);
    answer.extend(&question[HEADER..end + 4]);
    if let Some(data) = data {
        // The name is that of the question, and the answer may not be kept.
        answer.extend([0xc0, HEADER as u8]);
        answer
            .extend([asked_type, INTERNET, 0, 0, data.len() as u16].map(u16::to_be_bytes).concat());
        answer.extend(data);
    }
    answer
}

/// The name in a question, and where it ends.
fn name_in(question: &[u8]) -> (String, usize) {
    let (mut labels, mut at) = (Vec::new(), HEADER);
    while question[at] > 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8(question[at + 1..end].to_vec()).unwrap());
        at = end;
    }
    (labels.join("."), at + 1)
}

/// Priority 0, weight 0, the port, and the host (RFC 2782).
fn service_data(host: &str) -> Vec<u8> {
    let mut data = [0, 0, PORT].map(u16::to_be_bytes).concat();
    for label in host.split('.') {
        data.push(label.len() as u8);
        data.extend(label.as_bytes());
    }
    data.push(0);
    data
}
