//! SRV records of DNS (RFC 2782), which the system's own lookup cannot ask for. One question goes
//! to the name servers of `/etc/resolv.conf`, by UDP, and by TCP if the answer is cut (RFC 7766).

use simple_dns::rdata::{OPT, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, Question, RCODE, TYPE, header_buffer};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// Longest wait for one name server.
const SERVER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of name servers that are asked, as the system does (resolv.conf(5)).
const MAX_NAME_SERVERS: usize = 3;
/// Largest answer by UDP that is asked for, bytes (RFC 6891 §6.2.5).
const MAX_UDP_ANSWER_BYTES: u16 = 1232;
/// Bytes of a message's header (RFC 1035 §4.1.1), and of the record that ends a question (RFC 6891
/// §6.1.2).
const HEADER_BYTES: usize = 12;
const OPT_RECORD_BYTES: usize = 11;

/// A server of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRecord {
    /// Servers with the lowest number come first.
    pub priority: u16,
    /// Share of the clients among servers of the same priority.
    pub weight: u16,
    /// Port of the service.
    pub port: u16,
    /// Name of the host.
    pub host: String,
}

/// Asks the system's name servers for the servers of `name`, such as `_headstart._tcp.example`.
///
/// # Errors
/// If the name does not exist or has no server, or no name server answers.
pub(crate) async fn service_records(name: &str) -> io::Result<Vec<ServiceRecord>> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    ask(&name_servers(&text), name).await
}

/// Returns the name servers of a resolv.conf(5); without any, the one of this host.
fn name_servers(text: &str) -> Vec<SocketAddr> {
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    let addresses = named.filter_map(|rest| rest.trim().parse::<IpAddr>().ok());
    let mut servers: Vec<_> =
        addresses.take(MAX_NAME_SERVERS).map(|address| SocketAddr::new(address, 53)).collect();
    if servers.is_empty() {
        servers.push((Ipv4Addr::LOCALHOST, 53).into());
    }
    servers
}

/// Asks each name server in turn, until one answers.
///
/// # Errors
///
/// If a server says that there is no such name, or if none answers.
async fn ask(servers: &[SocketAddr], name: &str) -> io::Result<Vec<ServiceRecord>> {
    let id = getrandom::u32().map_err(io::Error::other)? as u16;
    let question = question(id, name)?;
    let mut last = io::Error::other("no name server");
    for server in servers {
        let asked = timeout(SERVER_TIMEOUT, ask_one(*server, &question)).await;
        let answer = asked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        match answer.and_then(|answer| read(&answer)) {
            Ok(records) => return Ok(records),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(error) => {
                last = io::Error::new(error.kind(), format!("name server {server}: {error}"))
            }
        }
    }
    Err(last)
}

/// Returns the answer of one server. Datagrams that answer another question are passed over.
async fn ask_one(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut answer = vec![0; usize::from(MAX_UDP_ANSWER_BYTES)];
    loop {
        let length = socket.recv(&mut answer).await?;
        let received = answer.get(..length).unwrap_or_default();
        if !answers(received, question) {
            continue;
        }
        return match header_buffer::has_flags(received, PacketFlag::TRUNCATION) {
            Ok(true) => ask_by_tcp(server, question).await,
            _ => Ok(received.to_vec()),
        };
    }
}

/// Asks a name server by TCP, where a length of two bytes precedes each message (RFC 1035 §4.2.2).
async fn ask_by_tcp(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), question].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    match answers(&answer, question) {
        true => Ok(answer),
        false => Err(broken()),
    }
}

/// Returns a question for the servers of `name`, with the size of the answer that fits (EDNS).
fn question(id: u16, name: &str) -> io::Result<Vec<u8>> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "no name of DNS");
    let name = name.trim_end_matches('.');
    if name.split('.').any(str::is_empty) {
        return Err(wrong());
    }
    let name = Name::new(name).map_err(|_| wrong())?;
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(name, TYPE::SRV.into(), CLASS::IN.into(), false));
    let opt = OPT { opt_codes: Vec::new(), udp_packet_size: MAX_UDP_ANSWER_BYTES, version: 0 };
    *packet.opt_mut() = Some(opt);
    packet.build_bytes_vec().map_err(io::Error::other)
}

/// Returns whether a message answers the question: with its number, name and type. An answer that
/// is cut may end anywhere behind these.
fn answers(message: &[u8], question: &[u8]) -> bool {
    let asked = HEADER_BYTES..question.len() - OPT_RECORD_BYTES;
    let is_reply = header_buffer::has_flags(message, PacketFlag::RESPONSE).unwrap_or(false);
    let echoed = message.get(asked.clone()).unwrap_or_default();
    is_reply && message[..2] == question[..2] && echoed.eq_ignore_ascii_case(&question[asked])
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an answer that cannot be read")
}

/// Reads the records of an answer.
fn read(message: &[u8]) -> io::Result<Vec<ServiceRecord>> {
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no servers (SRV)");
    let packet = Packet::parse(message).map_err(|_| broken())?;
    match packet.rcode() {
        RCODE::NoError => {}
        RCODE::NameError => return Err(none()),
        code => return Err(io::Error::other(format!("it refuses: {code:?}"))),
    }
    let records = packet.answers.into_iter().filter_map(|record| match record.rdata {
        RData::SRV(srv) => Some(ServiceRecord {
            priority: srv.priority,
            weight: srv.weight,
            port: srv.port,
            host: srv.target.to_string(),
        }),
        _ => None,
    });
    // A service without any server has the root as its host.
    let all: Vec<_> = records.filter(|record| !record.host.is_empty()).collect();
    if all.is_empty() { Err(none()) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "_headstart._tcp.example";

    /// An answer with these records after the question, by the form of RFC 1035 §4.1.
    fn answer(question: &[u8], flags: [u8; 2], records: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = question[..2].to_vec();
        bytes.extend([flags[0] | 0x80, flags[1], 0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
        bytes.extend(&question[HEADER_BYTES..question.len() - OPT_RECORD_BYTES]);
        records.iter().for_each(|record| bytes.extend(record));
        bytes
    }

    /// A record of the name in question; its host ends with the name at `base` of the message.
    fn srv(priority: u16, port: u16, host: &str, base: u8) -> Vec<u8> {
        let mut data = [priority.to_be_bytes(), 5_u16.to_be_bytes(), port.to_be_bytes()].concat();
        data.push(host.len() as u8);
        data.extend(host.as_bytes());
        data.extend([0xc0, base]);
        let mut bytes = vec![0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 9];
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
        bytes
    }

    fn record(priority: u16, port: u16, host: &str) -> ServiceRecord {
        ServiceRecord { priority, weight: 5, port, host: host.to_owned() }
    }

    #[test]
    fn records_are_read_with_compressed_names() {
        let asked = question(7, NAME).unwrap();
        // An alias (CNAME) of two bytes stands before them. `example` is at 12 + 11 + 5 = 28.
        let alias = vec![0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12];
        let message = answer(&asked, [0, 0], &[alias, srv(1, 9466, "a", 28), srv(2, 80, "b", 28)]);
        assert!(answers(&message, &asked));
        let expected = [record(1, 9466, "a.example"), record(2, 80, "b.example")];
        assert_eq!(read(&message).unwrap(), expected);
        // Every shorter message is broken, and none makes the reader panic.
        for length in 0..message.len() {
            let cut = &message[..length];
            assert!(!answers(cut, &asked) || read(cut).is_err(), "{length}");
        }
    }

    #[test]
    fn an_answer_to_another_question_is_none() {
        let asked = question(7, NAME).unwrap();
        let good = answer(&asked, [0, 0], &[srv(1, 9466, "a", 28)]);
        assert!(!answers(&answer(&question(8, NAME).unwrap(), [0, 0], &[]), &asked));
        let other = question(7, "_headstart._tcp.exbmple").unwrap();
        assert!(!answers(&answer(&other, [0, 0], &[]), &asked));
        let mut question_itself = good;
        question_itself[2] &= 0x7f;
        assert!(!answers(&question_itself, &asked));
    }

    #[test]
    fn names_without_servers_and_loops_are_errors() {
        let asked = question(7, NAME).unwrap();
        let error =
            |flags, records: &[Vec<u8>]| read(&answer(&asked, flags, records)).unwrap_err().kind();
        assert_eq!(error([0, 3], &[]), io::ErrorKind::NotFound);
        assert_eq!(error([0, 0], &[]), io::ErrorKind::NotFound);
        assert_eq!(error([0, 2], &[]), io::ErrorKind::Other);
        let root = vec![0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 9, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(error([0, 0], &[root]), io::ErrorKind::NotFound);
        // A pointer to itself: the record's name stands behind the question, and points there.
        let end = (asked.len() - OPT_RECORD_BYTES) as u8;
        assert_eq!(error([0, 0], &[vec![0xc0, end]]), io::ErrorKind::InvalidData);
        for name in ["", "a..b", &"a".repeat(64)] {
            assert!(question(7, name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn name_servers_are_those_of_the_system() {
        let text = "# one\nnameserver 192.0.2.1\noptions edns0\nnameserver ::1\nnameserver x\n";
        let expected = ["192.0.2.1:53", "[::1]:53"].map(|text| text.parse().unwrap());
        assert_eq!(name_servers(text), expected);
        assert_eq!(name_servers(""), ["127.0.0.1:53".parse().unwrap()]);
    }

    /// The first server is closed. The second one answers another question first, and then with an
    /// answer that is cut; the whole answer is sent by TCP.
    #[tokio::test]
    async fn a_cut_answer_is_asked_for_again_by_tcp() {
        let closed = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let (udp, tcp) = bind_both().await;
        let server = udp.local_addr().unwrap();
        let serving = async {
            let mut asked = vec![0; 512];
            let (length, from) = udp.recv_from(&mut asked).await.unwrap();
            asked.truncate(length);
            let foreign = answer(&question(asked_id(&asked) ^ 1, NAME).unwrap(), [0, 0], &[]);
            udp.send_to(&foreign, from).await.unwrap();
            udp.send_to(&answer(&asked, [2, 0], &[]), from).await.unwrap();
            let (mut stream, _) = tcp.accept().await.unwrap();
            let mut again = vec![0; usize::from(stream.read_u16().await.unwrap())];
            stream.read_exact(&mut again).await.unwrap();
            assert_eq!(again, asked);
            let whole = answer(&asked, [0, 0], &[srv(1, 9466, "a", 28)]);
            stream.write_u16(whole.len() as u16).await.unwrap();
            stream.write_all(&whole).await.unwrap();
        };
        let servers = [closed, server];
        let (found, ()) = tokio::join!(ask(&servers, NAME), serving);
        assert_eq!(found.unwrap(), [record(1, 9466, "a.example")]);
    }

    /// Sockets of both protocols with one port, which another test may have for TCP already.
    async fn bind_both() -> (UdpSocket, tokio::net::TcpListener) {
        loop {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let listener = tokio::net::TcpListener::bind(udp.local_addr().unwrap()).await;
            if let Ok(tcp) = listener {
                return (udp, tcp);
            }
        }
    }

    fn asked_id(question: &[u8]) -> u16 {
        u16::from_be_bytes([question[0], question[1]])
    }
}
