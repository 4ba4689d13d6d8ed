//! Walks the records of a segment, and the handshake messages in them (RFC 8446 §4 and §5.1, RFC
//! 5246 §6.2 and §7.4).

use super::{CONTENT_TYPES, MAJOR, TlsContent, TlsHead};

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// Most bytes of a record's content with what encryption may add (RFC 5246 §6.2.3).
const LONGEST_RECORD: u16 = (1 << 14) + 2048;
/// Bytes of a record's header, and of a handshake message's.
const RECORD_HEADER: usize = 5;
const MESSAGE_HEADER: usize = 4;
/// The newest minor version that record headers may have.
const NEWEST_MINOR: u8 = 4;

/// Handshake messages.
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const NEW_SESSION_TICKET: u8 = 4;
const CERTIFICATE: u8 = 11;
const SERVER_KEY_EXCHANGE: u8 = 12;
/// The highest type in use (RFC 8879: compressed certificate), except a message hash, which is not
/// sent.
const LAST_TYPE: u8 = 25;
/// Maximum length of a handshake message; a longer one is encrypted.
const LONGEST_MESSAGE: usize = 1 << 18;

/// Extensions of a ServerHello.
const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;
/// Minor version of TLS 1.2, above which an extension decides.
const TLS_1_2: u8 = 3;
const TLS_1_3: u8 = 4;
/// The random of a HelloRetryRequest, which is otherwise like a ServerHello (RFC 8446 §4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];
/// Bytes of it that do: no random is like these by chance.
const RETRY_LEAST: usize = 4;

/// A record: its type, its length, and as much of its content as is captured.
struct TlsRecord<'a> {
    content: u8,
    length: u16,
    body: &'a [u8],
}

/// A handshake message: its type, its length, and as much of its body as is captured in one record.
struct HandshakeMessage<'a> {
    kind: u8,
    length: usize,
    body: &'a [u8],
}

/// Reads the beginning of a segment with `payload` bytes of payload, of which `bytes` are captured,
/// perhaps with padding after them.
#[cold]
#[inline(never)]
pub(super) fn head(bytes: &[u8], payload: u32) -> TlsHead {
    let captured = bytes.get(..payload as usize).unwrap_or(bytes);
    records(captured).unwrap_or_default()
}

/// Reads the records of a payload; `None` if it does not begin with one.
fn records(payload: &[u8]) -> Option<TlsHead> {
    let (first, mut rest) = next_record(payload)?;
    let content = match first.content {
        CHANGE_CIPHER_SPEC => TlsContent::ChangeCipherSpec,
        ALERT => TlsContent::Alert,
        HANDSHAKE => TlsContent::Handshake,
        _ => TlsContent::ApplicationData,
    };
    let mut head = TlsHead { record: first.length, content, ..TlsHead::NONE };
    if first.content == HANDSHAKE {
        note_first(&mut head, &first);
        let mut record = first;
        let mut within = 0;
        while note_record(&mut head, &record, &mut within) {
            let Some((next, behind)) = next_record(rest) else { break };
            (record, rest) = (next, behind);
        }
    }
    Some(head)
}

/// Returns the record at the beginning of `bytes`, and the rest.
fn next_record(bytes: &[u8]) -> Option<(TlsRecord<'_>, &[u8])> {
    let (&[content, major, minor, a, b], behind) = bytes.split_first_chunk::<RECORD_HEADER>()?;
    let length = u16::from_be_bytes([a, b]);
    let is_record = (CONTENT_TYPES[0]..=CONTENT_TYPES[1]).contains(&content)
        && (major, minor <= NEWEST_MINOR) == (MAJOR, true)
        && (1..=LONGEST_RECORD).contains(&length);
    let (body, rest) = behind.split_at(behind.len().min(usize::from(length)));
    is_record.then_some((TlsRecord { content, length, body }, rest))
}

/// Returns the message at the beginning of `bytes` of a handshake record, and the rest; `None` if
/// its header is cut off or encrypted.
fn next_message(bytes: &[u8]) -> Option<(HandshakeMessage<'_>, &[u8])> {
    let (&[kind, a, b, c], behind) = bytes.split_first_chunk::<MESSAGE_HEADER>()?;
    let length = u32::from_be_bytes([0, a, b, c]) as usize;
    let is_message = (1..=LAST_TYPE).contains(&kind) && length <= LONGEST_MESSAGE;
    let (body, rest) = behind.split_at(behind.len().min(length));
    is_message.then_some((HandshakeMessage { kind, length, body }, rest))
}

/// Notes the type of the first message.
fn note_first(head: &mut TlsHead, record: &TlsRecord<'_>) {
    let Some((message, _)) = next_message(record.body) else { return };
    head.handshake = message.kind + 1;
    match message.kind {
        CLIENT_HELLO => head.content = TlsContent::ClientHello,
        SERVER_HELLO => {
            head.content = TlsContent::ServerHello;
            note_server_hello(head, &message);
        }
        _ => {}
    }
}

/// Notes the handshake data of a record; the first message is noted already. `within`: bytes of an
/// earlier message that are still to follow. Returns true if the next record may have more.
fn note_record(head: &mut TlsHead, record: &TlsRecord<'_>, within: &mut usize) -> bool {
    let is_whole = record.body.len() == usize::from(record.length);
    match record.content {
        HANDSHAKE => note_messages(head, record.body, within) && is_whole,
        CHANGE_CIPHER_SPEC => {
            note_resumption(head, true);
            false
        }
        _ => false,
    }
}

/// Notes the messages of a record, of which the first `within` bytes continue an earlier message.
/// Returns true if it has nothing but messages.
fn note_messages(head: &mut TlsHead, body: &[u8], within: &mut usize) -> bool {
    let skipped = body.len().min(*within);
    *within -= skipped;
    let mut rest = &body[skipped..];
    while let Some((message, behind)) = next_message(rest) {
        match message.kind {
            CERTIFICATE => {
                let [_, length @ ..] = (message.length as u32).to_be_bytes();
                head.certificate = length;
                note_resumption(head, false);
            }
            SERVER_KEY_EXCHANGE => note_resumption(head, false),
            NEW_SESSION_TICKET => note_resumption(head, true),
            _ => {}
        }
        *within = message.length - message.body.len();
        rest = behind;
    }
    rest.is_empty()
}

/// Notes the first message after a ServerHello that shows if a session up to TLS 1.2 is resumed. A
/// certificate shows that it is not. Encryption or a ticket without a certificate before it shows
/// that it is.
fn note_resumption(head: &mut TlsHead, is_resumed: bool) {
    let is_old = head.version().is_some_and(|minor| minor <= TLS_1_2);
    if head.content == TlsContent::ServerHello && is_old && head.is_resumed().is_none() {
        head.set_resumed(is_resumed);
    }
}

/// Notes the contents of a ServerHello: version, random, session, cipher, compression, extensions
/// (RFC 8446 §4.1.3).
fn note_server_hello(head: &mut TlsHead, message: &HandshakeMessage<'_>) {
    let Some((&[_, minor], behind)) = message.body.split_first_chunk() else { return };
    if minor < TLS_1_2 {
        head.set_version(minor);
    }
    let random = &behind[..behind.len().min(RETRY.len())];
    if random.len() >= RETRY_LEAST && RETRY.starts_with(random) {
        head.content = TlsContent::HelloRetryRequest;
    }
    let session = behind.get(RETRY.len()).map(|&length| usize::from(length));
    // The session's length and itself, the cipher suite of two bytes, one of compression.
    let Some(extensions_at) = session.map(|session| 2 + RETRY.len() + 1 + session + 3) else {
        return;
    };
    match message.body.get(extensions_at..) {
        Some([]) | None if message.length == extensions_at => head.set_version(minor),
        Some([_, _, extensions @ ..]) => {
            let all = message.length.saturating_sub(extensions_at + 2);
            note_extensions(head, minor, extensions, extensions.len() == all);
        }
        _ => {}
    }
}

/// Notes the extensions that decide; `minor`: that of the version before them; `are_all`: none is
/// cut off.
fn note_extensions(head: &mut TlsHead, minor: u8, mut rest: &[u8], are_all: bool) {
    let (mut selected, mut has_key) = (None, false);
    while let Some((&[a, b, c, d], behind)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([c, d]));
        match (u16::from_be_bytes([a, b]), behind) {
            (SUPPORTED_VERSIONS, &[MAJOR, minor, ..]) => selected = Some(minor),
            (PRE_SHARED_KEY, _) => has_key = true,
            _ => {}
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    let version = selected.or(are_all.then_some(minor));
    if let Some(minor) = version.filter(|&minor| minor <= NEWEST_MINOR) {
        head.set_version(minor);
    }
    if has_key || (are_all && version >= Some(TLS_1_3)) {
        head.set_resumed(has_key);
    }
}
