//! Records of TLS at the beginning of a segment's payload. Only headers and hello messages are
//! read, if the capture has them. Bytes that the snap length has cut off lead to no result.

mod read;

#[cfg(test)]
mod tests;

/// The lowest content type and the highest (RFC 8446 §5.1).
const CONTENT_TYPES: [u8; 2] = [20, 23];
/// The first byte of the version in every record header (RFC 8446 §5.1).
const MAJOR: u8 = 3;

/// The first record of TLS in a segment's payload, and the state of the handshake in the captured
/// bytes, in 8 bytes. A segment that begins within a record has none: its bytes do not show that
/// they are TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsHead {
    record: u16,
    certificate: [u8; 3],
    content: TlsContent,
    /// Type of the first handshake message, and one more: 0 is unknown.
    handshake: u8,
    /// The lower half: the minor version and one more, 0 is unknown. Then whether it is known if
    /// the session is resumed, and if it is.
    state: u8,
}

/// True of two bytes that a record may begin with. One comparison of both, since every segment is
/// looked at: the four content types differ in two bits.
#[inline]
pub(crate) const fn may_begin_record(first: [u8; 2]) -> bool {
    let [lowest, highest] = CONTENT_TYPES;
    let same_bits = u16::from_le_bytes([!(lowest ^ highest), u8::MAX]);
    u16::from_le_bytes(first) & same_bits == u16::from_le_bytes([lowest, MAJOR])
}

/// Content of a first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TlsContent {
    /// No record begins here.
    #[default]
    None,
    /// The client's first message.
    ClientHello,
    /// The server's choice.
    ServerHello,
    /// A server's request for another ClientHello, which costs a round trip (RFC 8446 §4.1.4).
    HelloRetryRequest,
    /// Another handshake message; [`TlsHead::handshake_type`] has its type, if it is visible.
    Handshake,
    /// The change to encryption (TLS 1.2), or a placeholder of that (RFC 8446 appendix D.4).
    ChangeCipherSpec,
    /// An alert.
    Alert,
    /// Application data; in TLS 1.3 also every encrypted handshake message.
    ApplicationData,
}

impl TlsHead {
    /// No record of TLS.
    pub const NONE: Self =
        Self { record: 0, certificate: [0; 3], content: TlsContent::None, handshake: 0, state: 0 };
    const VERSION: u8 = 0x0f;
    const RESUMPTION_KNOWN: u8 = 0x10;
    const RESUMED: u8 = 0x20;

    /// Reads the first record of a segment with `payload` bytes of payload; `bytes`: the captured
    /// ones, and maybe padding of the frame.
    #[inline]
    pub fn of(bytes: &[u8], payload: u32) -> Self {
        match bytes.first_chunk() {
            Some(first) if may_begin_record(*first) => read::head(bytes, payload),
            _ => Self::NONE,
        }
    }

    /// Returns the content of the first record.
    #[inline]
    pub const fn content(&self) -> TlsContent {
        self.content
    }

    /// Returns the bytes of the first record after its header of five bytes.
    pub const fn record_len(&self) -> u16 {
        self.record
    }

    /// The type of the first handshake message (RFC 8446 §4), if it is captured and not encrypted:
    /// 1 is a ClientHello.
    pub const fn handshake_type(&self) -> Option<u8> {
        self.handshake.checked_sub(1)
    }

    /// The negotiated version's minor number: 1 for TLS 1.0 to 4 for TLS 1.3. `None` unless a
    /// ServerHello is captured up to the point that decides between TLS 1.2 and 1.3, which is
    /// extension `supported_versions` or the end of the extensions.
    pub const fn version(&self) -> Option<u8> {
        (self.state & Self::VERSION).checked_sub(1)
    }

    /// Returns true if the server resumes a session. In TLS 1.3 its ServerHello then selects a
    /// pre-shared key. Up to TLS 1.2 this segment then continues with encryption or a session
    /// ticket, and without a certificate. `None` unless the capture shows whether it does.
    pub const fn is_resumed(&self) -> Option<bool> {
        if self.state & Self::RESUMPTION_KNOWN == 0 {
            return None;
        }
        Some(self.state & Self::RESUMED != 0)
    }

    /// Returns the bytes of the Certificate message, its header of four bytes excluded, if its
    /// header is in this segment. TLS 1.3 encrypts it.
    pub const fn certificate_len(&self) -> Option<u32> {
        let [a, b, c] = self.certificate;
        match u32::from_be_bytes([0, a, b, c]) {
            0 => None,
            length => Some(length),
        }
    }

    const fn set_version(&mut self, minor: u8) {
        self.state = self.state & !Self::VERSION | (minor + 1) & Self::VERSION;
    }

    const fn set_resumed(&mut self, is_resumed: bool) {
        self.state |= Self::RESUMPTION_KNOWN | if is_resumed { Self::RESUMED } else { 0 };
    }
}
