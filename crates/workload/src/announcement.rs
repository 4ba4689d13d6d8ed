//! Positions at which responses begin in a server's output, and their lengths: for servers that
//! announce them to their transport.

use crate::{Page, Protocol, Span, SpanContent};

/// The responses of one connection, followed through the server's output. Interleaved responses are
/// never announced: no other response may come between the first byte of an announced one and its
/// last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcements {
    /// Bytes that are left of the response under way.
    left: u64,
}

impl Announcements {
    /// `span` is written next; the bytes of the response, if one begins with it.
    pub fn of(&mut self, span: &Span, page: &Page, protocol: &Protocol) -> Option<u64> {
        let SpanContent::Response(object) = span.content else { return None };
        let is_first = self.left == 0 && !protocol.interleaves();
        if is_first {
            self.left = protocol.response_bytes(page.object(object));
        }
        let begins = is_first.then_some(self.left);
        self.left = self.left.saturating_sub(span.bytes);
        begins
    }
}
