//! A page as files and configuration of a web server that is not ours.
//!
//! Each object is a file of zeros, without blocks on any disk. Its length makes the answer, with
//! the server's own header, about as long as the modelled one. The model includes the framing of
//! TLS, which is not spoken.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use workload::{Http, LoaderConfig, NGINX_HTTP1_HEADER, Object, ObjectId, Page, Protocol, Tls};

/// Path that is requested instead of TLS's handshake.
pub(crate) const FLIGHT: &str = "/flight";
/// Where the server's Finished of TLS 1.2 is: shorter than the head of any answer, so it has no
/// body.
pub(crate) const FINISHED: &str = "/finished";

/// Path of an object.
pub(crate) fn path(object: ObjectId) -> String {
    format!("/{}", object.index())
}

/// Object of a page at a path.
pub(crate) fn object_at<'a>(page: &'a Page, at: &str) -> Option<&'a Object> {
    page.ids().find(|id| path(*id) == at).map(|id| page.object(id))
}

/// Bytes of the header that the server puts before an answer: status, Server, Date, Content-Type,
/// Content-Length, Last-Modified and Connection; in HTTP/2 most of them are indexed or Huffman's
/// (RFC 7541).
pub(crate) const fn head_bytes(protocol: Protocol) -> u64 {
    match protocol.http {
        Http::Http2 => 110,
        _ => NGINX_HTTP1_HEADER,
    }
}

/// Bytes of an object's body: the modelled answer without the server's own header.
pub(crate) fn body_bytes(protocol: Protocol, object: &Object) -> u64 {
    protocol.response_bytes(object).saturating_sub(head_bytes(protocol))
}

/// Returns the reason why a server that speaks HTTP cannot serve the page; `None` if it can.
pub(crate) fn unsupported_reason(page: &Page, config: &LoaderConfig) -> Option<String> {
    let asks_for_nothing = |object: &&Object| object.request_bytes == 0;
    if let Some(object) = page.objects().iter().find(asks_for_nothing) {
        let label = &object.label;
        return Some(format!("a request of no bytes, like that for {label:?}, is not HTTP"));
    }
    let speaks = |is_so: fn(&Protocol) -> bool| {
        page.hosts().iter().any(|host| is_so(&config.protocol(host)))
    };
    if speaks(|protocol| protocol.http == Http::Persistent) {
        return Some("responses that follow one another unasked are not HTTP".to_owned());
    }
    if speaks(|protocol| protocol.http == Http::Http3) {
        return Some("HTTP/3 is simulated only: --http 2 loads the same over TCP".to_owned());
    }
    // TLS is requests of its own, and a request waits for the one before it on its connection.
    let early = "a request beside the ClientHello (--tls 0rtt) cannot be made in the clear";
    speaks(|protocol| protocol.tls == Tls::ZeroRtt).then(|| early.to_owned())
}

/// Writes the files of the page's objects into a folder.
pub(super) fn write_objects(folder: &Path, page: &Page, config: &LoaderConfig) -> io::Result<()> {
    let of_zeros = |path: &str, bytes: u64| {
        File::create(folder.join(path.trim_start_matches('/')))?.set_len(bytes)
    };
    for (at, object) in page.objects().iter().enumerate() {
        let protocol = config.protocol(page.host(object.host));
        of_zeros(&path(ObjectId(at as u32)), body_bytes(protocol, object))?;
    }
    let flight = config.tls_server_flight;
    let shortest = page.hosts().iter().map(|host| head_bytes(config.protocol(host))).min();
    of_zeros(FINISHED, 0)?;
    of_zeros(FLIGHT, flight.saturating_sub(shortest.unwrap_or(0)))
}

/// The replacement of a server's part of TLS is sent as TLS would be: from memory, and its last
/// part at once. nginx would hold the last part of a file back until its header has been
/// acknowledged.
const WHOLE: &str = "location = /flight { sendfile off; }";

/// The beginning of nginx's configuration, up to and without the servers. `has` is true of a module
/// that is built in.
pub(crate) fn config_preamble(folder: &Path, has: impl Fn(&str) -> bool) -> String {
    let at = folder.display();
    let mut text = format!(
        "daemon off;\nuser root;\nworker_processes 1;\nworker_priority -20;\npid {at}/pid;\nerror_log stderr error;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n  access_log off;\n  server_tokens off;\n  default_type application/octet-stream;\n  \
         etag off;\n  max_ranges 0;\n  sendfile on;\n  tcp_nodelay on;\n  lingering_close off;\n  \
         keepalive_timeout 1h;\n  client_header_timeout 1h;\n  send_timeout 1h;\n  \
         keepalive_requests 1000000;\n  http2_chunk_size 16k;\n  \
         client_header_buffer_size 64k;\n  large_client_header_buffers 4 64k;\n  root {at}/objects;\n  \
         client_body_temp_path {at}/body;\n"
    );
    for module in ["proxy", "fastcgi", "uwsgi", "scgi"] {
        if has(module) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {module}_temp_path {at}/{module};");
        }
    }
    text
}

/// The addresses at which nginx listens.
#[derive(Clone, Copy)]
pub(super) struct ListensAt<'a> {
    /// Addresses of the page's hosts, in their order.
    pub(super) hosts: &'a [SocketAddr],
    /// Address of the check that nginx serves.
    pub(super) ready: SocketAddr,
}

/// nginx's configuration for a folder of these files, served at the addresses of the page's hosts.
/// `has` returns whether a module is built in.
pub(super) fn configuration(
    folder: &Path,
    page: &Page,
    config: &LoaderConfig,
    listens_at: ListensAt<'_>,
    has: impl Fn(&str) -> bool,
) -> String {
    let mut text = config_preamble(folder, has);
    for (address, host) in listens_at.hosts.iter().zip(page.hosts()) {
        let http2 = if config.protocol(host).http == Http::Http2 { " http2" } else { "" };
        let _ = writeln!(text, "  server {{ listen {address}{http2}; {WHOLE} }}");
    }
    let _ = writeln!(text, "  server {{ listen {}; }}", listens_at.ready);
    text + "}\n"
}
