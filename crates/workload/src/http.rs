//! Protocols of a page's hosts: HTTP version, TLS, and their costs in connections, round trips and
//! bytes. Every constant of the wire is here, with its source.

use crate::client::ClientModel;
use crate::page::{Object, Page, PageHost};
use crate::versions::{Http, ServerModel, Tls};
use segment::{QUIC_DATAGRAM, QUIC_OVERHEAD};
use units::Duration;

/// Kept-alive connections per host: the number of Chromium and Firefox for an HTTP/1.1 server.
pub const HTTP11_CONNECTIONS: u32 = 6;
/// Requests in progress on one HTTP/2 connection: the least a server should allow
/// (RFC 9113 §6.5.2) and the usual default.
pub const HTTP2_STREAMS: u32 = 100;
/// Header of an HTTP/2 frame (RFC 9113 §4.1).
pub const HTTP2_FRAME_HEADER: u64 = 9;
/// Client preface of 24 bytes (RFC 9113 §3.4) with the SETTINGS of four values (9 + 24) and the
/// WINDOW_UPDATE (9 + 4) that browsers send along.
pub const HTTP2_CLIENT_OPENING: u64 = 70;
/// A server's SETTINGS of three values (9 + 18) and its acknowledgement of the client's (9).
pub const HTTP2_SERVER_OPENING: u64 = 36;
/// Requests in progress on one HTTP/3 connection: the least a server should allow (RFC 9114 §6.1).
pub const HTTP3_STREAMS: u32 = 100;
/// Header of an HTTP/3 frame of up to 16,383 bytes: type 1, length 2 (RFC 9114 §7.1, RFC 9000 §16).
pub const HTTP3_FRAME_HEADER: u64 = 3;
/// The control stream of either end: its type (1) and SETTINGS of three values (2 + 12); and the
/// types of QPACK's two streams (RFC 9114 §6.2.1, §7.2.4; RFC 9204 §4.2).
pub const HTTP3_OPENING: u64 = 17;
/// Bytes of streams in a full packet of QUIC. The ClientHello fills one by padding (RFC 9000
/// §14.1).
pub const QUIC_PAYLOAD: u64 = (QUIC_DATAGRAM - QUIC_OVERHEAD) as u64;
/// Plaintext that fits one TLS record (RFC 8446 §5.1); also HTTP/2's smallest frame limit
/// (RFC 9113 §4.2).
pub const RECORD_BYTES: u64 = 1 << 14;
/// ClientHello as browsers pad it, 517 bytes, in a record of its own (RFC 7685 §4; header 5).
pub const TLS_CLIENT_HELLO: u64 = 522;
/// The client's ChangeCipherSpec (6) and Finished with a SHA-384 hash (22 + 4 + 48), which travel
/// with the first request (RFC 8446 §4.4.4, §D.4).
pub const TLS_CLIENT_FINISHED: u64 = 80;
/// ServerHello to Finished with a chain of two certificates, the usual size in today's web:
/// about 130 bytes of ServerHello, 3 kB of certificates, 360 bytes of proof and Finished.
pub const TLS_SERVER_FLIGHT: u64 = 3_500;
/// The server's flight of a resumed session: ServerHello (128), EncryptedExtensions (about 40) and
/// Finished (74), without certificates (RFC 8446 §2.2).
pub const TLS_RESUMED_FLIGHT: u64 = 250;
/// TLS 1.2: the client's ClientKeyExchange on P-256 (75), ChangeCipherSpec (6) and Finished (45)
/// (RFC 5246 §7.3, RFC 8422 §5.7).
pub const TLS12_CLIENT_KEYS: u64 = 126;
/// TLS 1.2: the server's ChangeCipherSpec (6) and Finished (45).
pub const TLS12_SERVER_FINISHED: u64 = 51;
/// Unsent bytes below which an HTTP/2 server hands the next frame to TCP: the usual
/// `TCP_NOTSENT_LOWAT` of servers, so that urgent responses do not queue behind others.
pub const HTTP2_LOW_WATER: u64 = RECORD_BYTES;

/// Header of a response of nginx 1.22 without its version and entity tags: status, Server, Date,
/// Content-Type, Content-Length of five or six digits, Last-Modified and Connection.
pub const NGINX_HTTP1_HEADER: u64 = 205;
/// Header bytes in HTTP/2, by HPACK (RFC 7541): 88 to 90 bytes with the frame's header were seen.
pub const NGINX_HTTP2_HEADER: u64 = 80;

/// Overrides of a page's own protocols, and the parameters that a page does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderConfig {
    /// HTTP version for all hosts; as the page says if `None`.
    pub http: Option<Http>,
    /// HTTP/3 is loaded as HTTP/2: for worlds without QUIC.
    pub without_quic: bool,
    /// TLS for all hosts; as the page says if `None`.
    pub tls: Option<Tls>,
    /// Connections open at once per host under HTTP/1.0 and 1.1; if `None`, as the page says for
    /// 1.0 and [`HTTP11_CONNECTIONS`] for 1.1. Zero counts as one.
    pub connections: Option<u32>,
    /// Bytes of a server's TLS flight, certificates included; [`TLS_SERVER_FLIGHT`].
    pub tls_server_flight: u64,
    /// Unsent bytes below which an HTTP/2 server writes on; [`HTTP2_LOW_WATER`].
    pub low_water: u64,
    /// Connections that the protocol keeps alive stay open when the page is done, for the next
    /// visit ([`PageLoader::start_again`](crate::PageLoader::start_again)).
    pub keep_open: bool,
    /// Time from the last byte of an object under HTTP/1.0 until its connection no longer counts as
    /// open, and another may replace it.
    pub turnaround: Duration,
    /// The browser knows the addresses of all hosts, and looks no name up.
    pub knows_hosts: bool,
    /// Model of the simulated servers.
    pub server: ServerModel,
    /// Model of the client that loads pages.
    pub client: ClientModel,
}

impl Default for LoaderConfig {
    fn default() -> Self {
        Self {
            http: None,
            without_quic: false,
            tls: None,
            connections: None,
            tls_server_flight: TLS_SERVER_FLIGHT,
            low_water: HTTP2_LOW_WATER,
            keep_open: false,
            turnaround: Duration::ZERO,
            knows_hosts: false,
            server: ServerModel::Builtin,
            client: ClientModel::Loader,
        }
    }
}

impl LoaderConfig {
    /// True if any host of the page is spoken to over TLS.
    pub fn speaks_tls(&self, page: &Page) -> bool {
        page.hosts().iter().any(|host| self.protocol(host).tls != Tls::None)
    }

    /// The protocol with `host` under this configuration.
    pub fn protocol(&self, host: &PageHost) -> Protocol {
        let http = match self.http.unwrap_or(host.http) {
            Http::Http3 if self.without_quic => Http::Http2,
            http => http,
        };
        let connections = match http {
            Http::Http10 => self.connections.unwrap_or(host.http10_connections),
            Http::Http11 => self.connections.unwrap_or(HTTP11_CONNECTIONS),
            Http::Http2 | Http::Http3 | Http::Persistent => 1,
        };
        let tls = match (http, self.tls.unwrap_or(host.tls)) {
            // QUIC has no other version (RFC 9001 §4.2).
            (Http::Http3, Tls::None | Tls::Tls12) => Tls::Tls13,
            (_, tls) => tls,
        };
        Protocol {
            http,
            tls,
            connections: connections.max(1),
            tls_server_flight: self.tls_server_flight,
            // At zero nothing could ever be written.
            low_water: self.low_water.max(1),
            // nginx is modelled as it writes to TCP.
            server: if http == Http::Http3 { ServerModel::Builtin } else { self.server },
        }
    }
}

/// Protocol between a client and one host: the rules of sharing connections and the bytes of
/// framing, the same for both ends. Made by [`LoaderConfig::protocol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// HTTP version.
    pub http: Http,
    /// TLS.
    pub tls: Tls,
    /// Connections open at once.
    pub connections: u32,
    /// Bytes of the server's TLS flight.
    pub tls_server_flight: u64,
    /// Unsent bytes below which an HTTP/2 server writes on.
    pub low_water: u64,
    /// Model of the host's server.
    pub server: ServerModel,
}

impl Protocol {
    /// Requests in progress at once on one connection.
    pub const fn requests_at_once(&self) -> u32 {
        match self.http {
            Http::Http10 | Http::Http11 => 1,
            Http::Http2 => HTTP2_STREAMS,
            Http::Http3 => HTTP3_STREAMS,
            Http::Persistent => u32::MAX,
        }
    }

    /// True if a connection serves more than one object.
    pub const fn keeps_alive(&self) -> bool {
        !matches!(self.http, Http::Http10)
    }

    /// True if responses on a connection take turns rather than follow in order of request.
    pub const fn interleaves(&self) -> bool {
        matches!(self.http, Http::Http2 | Http::Http3)
    }

    /// True if requests and responses are streams of their own, which arrive whatever others lack.
    pub const fn has_streams(&self) -> bool {
        matches!(self.http, Http::Http3)
    }

    /// The ClientHello. QUIC pads it to a full packet, unless early data fills that (RFC 9000
    /// §12.2, §14.1).
    pub const fn client_hello(&self) -> u64 {
        match (self.http, self.tls) {
            (_, Tls::None) => 0,
            (Http::Http3, Tls::Tls12 | Tls::Tls13) => QUIC_PAYLOAD,
            _ => TLS_CLIENT_HELLO,
        }
    }

    /// Bytes that the client sends before its first request once the connection is secured.
    pub const fn client_opening(&self) -> u64 {
        let finished = match self.tls {
            Tls::None | Tls::Tls12 => 0,
            Tls::Tls13 | Tls::ZeroRtt => TLS_CLIENT_FINISHED,
        };
        let opening = match self.http {
            Http::Http3 => HTTP3_OPENING,
            _ => self.if_http2(HTTP2_CLIENT_OPENING + self.tls.record_overhead()),
        };
        finished + opening
    }

    /// The server's TLS flight in answer to a ClientHello; 0 without TLS. HTTP/3 has its settings
    /// in it: a server may send before the handshake ends (RFC 9001 §5.7).
    pub const fn server_flight(&self) -> u64 {
        let settings = if self.has_streams() { HTTP3_OPENING } else { 0 };
        settings
            + match self.tls {
                Tls::None => 0,
                Tls::Tls12 | Tls::Tls13 => self.tls_server_flight,
                Tls::ZeroRtt => TLS_RESUMED_FLIGHT,
            }
    }

    /// Bytes that the server sends before its first response without a request, its TLS flight
    /// apart.
    pub const fn server_opening(&self) -> u64 {
        self.if_http2(HTTP2_SERVER_OPENING + self.tls.record_overhead())
    }

    /// Bytes on the connection that ask for `object`; 0 if asking costs no trip. Requests have
    /// their HTTP/1.x size: the savings of HPACK (RFC 7541) are not estimated.
    pub const fn request_bytes(&self, object: &Object) -> u64 {
        match object.request_bytes {
            0 => 0,
            n => n.saturating_add(self.framing()),
        }
    }

    /// Bytes on the connection that answer for `object`.
    pub const fn response_bytes(&self, object: &Object) -> u64 {
        self.response_prefix(object, object.body_bytes)
    }

    /// Bytes of the answer, from its first, that have to be delivered until `body_bytes` of the
    /// body are there, if nothing else comes between them.
    pub const fn response_prefix(&self, object: &Object, body_bytes: u64) -> u64 {
        let header = object.response_header_bytes;
        let frames = match self.http {
            Http::Http2 | Http::Http3 => {
                header.div_ceil(self.frame_payload()) + body_bytes.div_ceil(self.frame_payload())
            }
            _ => header.saturating_add(body_bytes).div_ceil(self.frame_payload()),
        };
        header.saturating_add(body_bytes).saturating_add(frames.saturating_mul(self.framing()))
    }

    /// Header and body of a response as the server writes them: nginx has a header of its own
    /// length, and as many bytes in all.
    pub(crate) fn header_and_body(&self, object: &Object) -> (u64, u64) {
        let (header, body) = (object.response_header_bytes, object.body_bytes);
        let own = match (self.server, self.http) {
            (ServerModel::Builtin, _) => header,
            (ServerModel::Nginx, Http::Http2) => NGINX_HTTP2_HEADER,
            (ServerModel::Nginx, _) => NGINX_HTTP1_HEADER,
        };
        let all = header.saturating_add(body);
        let header = own.min(all);
        (header, all - header)
    }

    /// Payload bytes of the next frame of a response with these bytes left. HTTP/2 and 3 put header
    /// and body into frames of their own (RFC 9113 §8.1, RFC 9114 §4.1), and nginx has writes of
    /// their own for them.
    pub(crate) fn next_frame(&self, header_left: u64, body_left: u64) -> u64 {
        let left = match (self.http, self.server) {
            (Http::Http2 | Http::Http3, _) | (_, ServerModel::Nginx) if header_left > 0 => {
                header_left
            }
            _ => header_left.saturating_add(body_left),
        };
        left.min(self.frame_payload())
    }

    /// Bytes around each frame of a response and each request.
    pub(crate) const fn framing(&self) -> u64 {
        match self.http {
            // QUIC protects packets, not records.
            Http::Http3 => HTTP3_FRAME_HEADER,
            _ => self.if_http2(HTTP2_FRAME_HEADER) + self.tls.record_overhead(),
        }
    }

    /// Most payload bytes of one frame: an HTTP/2 frame fills one TLS record.
    const fn frame_payload(&self) -> u64 {
        match (self.http, self.tls) {
            (Http::Http2, _) => RECORD_BYTES - HTTP2_FRAME_HEADER,
            (Http::Http3, _) => RECORD_BYTES - HTTP3_FRAME_HEADER,
            (_, Tls::None) => u64::MAX,
            _ => RECORD_BYTES,
        }
    }

    const fn if_http2(&self, bytes: u64) -> u64 {
        if matches!(self.http, Http::Http2) { bytes } else { 0 }
    }
}

#[cfg(test)]
mod tests;
