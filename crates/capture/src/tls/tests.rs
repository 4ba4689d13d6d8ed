//! Records and messages made by hand from RFC 8446 §4 and §5.1 and RFC 5246 §7.4, whole and cut.

use super::*;

/// A record of version 3.3.
fn record(content: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = (body.len() as u16).to_be_bytes();
    [&[content, 3, 3, high, low], body].concat()
}

/// A handshake message.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (body.len() as u32).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// The body of a ServerHello: version, random, a session of `session` bytes, cipher suite,
/// compression, and extensions if there are any.
fn hello(minor: u8, session: u8, extensions: &[u8]) -> Vec<u8> {
    let mut body =
        [&[3, minor][..], &[7; 32], &[session], &vec![9; session.into()], &[0x13, 1, 0]].concat();
    if !extensions.is_empty() {
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
    }
    body
}

/// Extension `supported_versions` that selects TLS 1.3, `pre_shared_key` that selects key 0, and
/// one without an effect here.
const SELECTS_1_3: [u8; 6] = [0, 43, 0, 2, 3, 4];
const SELECTS_KEY: [u8; 6] = [0, 41, 0, 2, 0, 0];
const OTHER: [u8; 5] = [0xff, 1, 0, 1, 0];

fn head(payload: &[u8]) -> TlsHead {
    TlsHead::of(payload, payload.len() as u32)
}

/// Reads a ServerHello in a record of its own, and the bytes after it. Returns version, resumption,
/// certificate.
fn read_hello(hello: &[u8], behind: &[u8]) -> (Option<u8>, Option<bool>, Option<u32>) {
    let head = head(&[record(22, &message(2, hello)), behind.to_vec()].concat());
    assert_eq!((head.content(), head.handshake_type()), (TlsContent::ServerHello, Some(2)));
    (head.version(), head.is_resumed(), head.certificate_len())
}

#[test]
fn a_first_record_says_what_it_is() {
    for (content, expected) in [
        (20, TlsContent::ChangeCipherSpec),
        (21, TlsContent::Alert),
        (22, TlsContent::Handshake),
        (23, TlsContent::ApplicationData),
    ] {
        let head = head(&record(content, &[0; 100]));
        assert_eq!((head.content(), head.record_len()), (expected, 100));
        assert_eq!((head.handshake_type(), head.version()), (None, None));
    }
    for (kind, expected) in [
        (1, TlsContent::ClientHello),
        (4, TlsContent::Handshake),
        (11, TlsContent::Handshake),
        (16, TlsContent::Handshake),
    ] {
        let head = head(&record(22, &message(kind, &[0; 60])));
        assert_eq!((head.content(), head.handshake_type()), (expected, Some(kind)));
        assert_eq!(head.record_len(), 64);
    }
}

/// Content types 20 to 23, versions 3.0 to 3.4, lengths 1 to 18,432.
#[test]
fn other_bytes_are_no_record() {
    let begins = |bytes: [u8; 5]| head(&[&bytes[..], &[0; 20]].concat()) != TlsHead::NONE;
    for bytes in [[20, 3, 0, 0, 1], [23, 3, 4, 0x48, 0], [22, 3, 1, 1, 0]] {
        assert!(begins(bytes), "{bytes:?}");
    }
    for bytes in [
        [19, 3, 3, 0, 9],
        [24, 3, 3, 0, 9],
        [22, 2, 3, 0, 9],
        [22, 4, 3, 0, 9],
        [22, 3, 5, 0, 9],
        [22, 3, 3, 0, 0],
        [23, 3, 3, 0x48, 1],
        *b"GET /",
    ] {
        assert!(!begins(bytes), "{bytes:?}");
    }
    // After the payload are bytes of padding.
    assert_eq!(TlsHead::of(&record(23, &[0; 9]), 0), TlsHead::NONE);
    assert_eq!(TlsHead::of(&record(23, &[0; 9]), 4), TlsHead::NONE);
    assert_eq!(TlsHead::of(&record(23, &[0; 9]), 5).record_len(), 9);
}

#[test]
fn a_server_hello_says_version_and_resumption() {
    let tls_1_3 = [OTHER.as_slice(), &SELECTS_1_3].concat();
    let resumed = [tls_1_3.as_slice(), &SELECTS_KEY].concat();
    let certificate = record(22, &message(11, &[0; 818]));
    let change = record(20, &[1]);
    let ticket = record(22, &message(4, &[0; 200]));
    for (hello, behind, expected) in [
        // The session of TLS 1.3 is an echo (RFC 8446 §4.1.3), and a change of cipher follows for
        // the sake of middleboxes.
        (hello(3, 32, &tls_1_3), &change, (Some(4), Some(false), None)),
        (hello(3, 32, &resumed), &change, (Some(4), Some(true), None)),
        (hello(3, 0, &resumed), &change, (Some(4), Some(true), None)),
        // RFC 5246 §7.3: a whole handshake, and one that resumes, also with a new ticket (RFC 5077
        // §3.1).
        (hello(3, 32, &OTHER), &certificate, (Some(3), Some(false), Some(818))),
        (hello(3, 32, &OTHER), &change, (Some(3), Some(true), None)),
        (hello(3, 32, &OTHER), &ticket, (Some(3), Some(true), None)),
        (hello(3, 32, &OTHER), &record(22, &message(12, &[0; 9])), (Some(3), Some(false), None)),
        (hello(3, 32, &OTHER), &vec![], (Some(3), None, None)),
        // A hello without extensions.
        (hello(3, 0, &[]), &change, (Some(3), Some(true), None)),
        (hello(1, 32, &[]), &certificate, (Some(1), Some(false), Some(818))),
    ] {
        assert_eq!(read_hello(&hello, behind), expected, "{hello:?}");
    }
    // A certificate and a ticket after it: the session is not resumed.
    let both = [certificate, ticket].concat();
    assert_eq!(read_hello(&hello(3, 32, &OTHER), &both), (Some(3), Some(false), Some(818)));
}

/// One record with several messages, and a message in several records.
#[test]
fn messages_and_records_need_not_agree() {
    let messages =
        [message(2, &hello(3, 32, &OTHER)), message(11, &[0; 300]), message(14, &[])].concat();
    let one = head(&record(22, &messages));
    assert_eq!((one.version(), one.certificate_len()), (Some(3), Some(300)));
    let hello_len = message(2, &hello(3, 32, &OTHER)).len();
    // Within the certificate, whose bytes look like a message of type 11 themselves.
    let mut long = messages.clone();
    long[hello_len + 50..hello_len + 54].copy_from_slice(&[11, 0, 0, 9]);
    let parts = [record(22, &long[..hello_len + 50]), record(22, &long[hello_len + 50..])].concat();
    assert_eq!(head(&parts).certificate_len(), Some(300));
}

/// The random of RFC 8446 §4.1.3, of which four bytes suffice.
#[test]
fn a_request_for_another_hello_is_told() {
    let mut retry = hello(3, 32, &SELECTS_1_3);
    retry[2..6].copy_from_slice(&[0xcf, 0x21, 0xad, 0x74]);
    let whole = record(22, &message(2, &retry));
    assert_eq!(head(&whole).content(), TlsContent::ServerHello, "28 bytes differ");
    for (captured, expected) in
        [(9 + 2 + 3, TlsContent::ServerHello), (9 + 2 + 4, TlsContent::HelloRetryRequest)]
    {
        assert_eq!(TlsHead::of(&whole[..captured], whole.len() as u32).content(), expected);
    }
}

/// Wherever the snap length cuts, only results of captured bytes are returned: the version once it
/// is decided, and then the rest.
#[test]
fn a_cut_record_claims_nothing_more() {
    let tls_1_3 = [SELECTS_KEY.as_slice(), &SELECTS_1_3, &OTHER].concat();
    let full = [record(22, &message(2, &hello(3, 0, &tls_1_3))), record(23, &[0; 40])].concat();
    let all = head(&full);
    // Record and message: 9; version 2, random 32, session 1, suite 2, compression 1, length 2; the
    // key 6, and the version 6.
    let [kind_at, key_at, version_at] = [9, 9 + 40 + 4, 9 + 40 + 12];
    for cut in 0..full.len() {
        let part = TlsHead::of(&full[..cut], full.len() as u32);
        let known = |from: usize| cut >= from;
        assert_eq!(part.record_len(), if known(5) { all.record_len() } else { 0 }, "{cut}");
        assert_eq!(part.handshake_type(), known(kind_at).then_some(2), "{cut}");
        assert_eq!(part.is_resumed(), known(key_at).then_some(true), "{cut}");
        assert_eq!(part.version(), known(version_at).then_some(4), "{cut}");
    }
    // The version alone, before a key that may follow.
    let version_first = [SELECTS_1_3.as_slice(), &SELECTS_KEY].concat();
    let first = record(22, &message(2, &hello(3, 0, &version_first)));
    let part = TlsHead::of(&first[..first.len() - 6], first.len() as u32);
    assert_eq!((part.version(), part.is_resumed()), (Some(4), None));
    // Before the extensions TLS 1.2 and 1.3 look alike, but a lower version is certain.
    let old = record(22, &message(2, &hello(2, 32, &OTHER)));
    assert_eq!(TlsHead::of(&old[..11], old.len() as u32).version(), Some(2));
    // The length of a certificate is in its header.
    let chain =
        [record(22, &message(2, &hello(3, 32, &OTHER))), record(22, &message(11, &[0; 5_000]))];
    let chain = chain.concat();
    let header_at = chain.len() - 5_000;
    let part = |cut: usize| TlsHead::of(&chain[..cut], chain.len() as u32).certificate_len();
    assert_eq!((part(header_at), part(header_at - 1)), (Some(5_000), None));
}

/// Random bytes where a message should be: encrypted.
#[test]
fn encrypted_messages_have_no_type() {
    for body in [[0, 0, 0, 0, 9], [200, 0, 0, 1, 9], [11, 0xff, 0, 0, 9]] {
        let head = head(&record(22, &body));
        assert_eq!((head.content(), head.handshake_type()), (TlsContent::Handshake, None));
        assert_eq!(head.certificate_len(), None);
    }
}

#[test]
fn a_head_has_eight_bytes() {
    assert_eq!(size_of::<TlsHead>(), 8);
}
