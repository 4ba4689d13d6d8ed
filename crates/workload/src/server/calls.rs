//! Socket calls of a web server, in order.
//!
//! nginx 1.22 as it comes, with `sendfile` and in the clear (seen by `strace`). In HTTP/1.x the
//! header is a write of its own, the file follows, and after the first response the connection has
//! `TCP_NODELAY` for good. In HTTP/2 the header's frame is a write, after which `TCP_NODELAY` is
//! set; for the frames of the file it is taken back and `TCP_CORK` set. The cork is drawn when the
//! file has been handed over, or there is no room. Nagle's algorithm then holds the last part of a
//! segment until the header's has been acknowledged, unless another header follows. Data that has
//! waited for room is written in one piece, headers and files.

use super::NextSpan;
use crate::stream::Span;
use crate::versions::Http;
use std::collections::VecDeque;

/// A call of a connection's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketCall {
    /// Write this many bytes.
    Write(Span),
    /// `TCP_NODELAY`.
    NoDelay(bool),
    /// `TCP_CORK`.
    Cork(bool),
}

/// nginx's, of one connection.
#[derive(Clone, Debug)]
pub(super) struct NginxCalls {
    http: Http,
    calls: VecDeque<SocketCall>,
    no_delay: bool,
    corked: bool,
    /// There was no room for the owed bytes.
    is_behind: bool,
}

impl NginxCalls {
    /// A connection that has been accepted: as the kernel makes it.
    pub(super) fn new(http: Http) -> Self {
        let calls = VecDeque::from([SocketCall::NoDelay(false)]);
        Self { http, calls, no_delay: false, corked: false, is_behind: false }
    }

    pub(super) fn poll(&mut self) -> Option<SocketCall> {
        self.calls.pop_front()
    }

    /// Whether owed data waits for room.
    pub(super) const fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Records a write.
    pub(super) fn record_write(&mut self, next: &NextSpan) {
        let is_header = next.begins && !self.is_behind;
        match self.http {
            Http::Http2 if is_header => {
                self.cork(false);
                self.calls.push_back(SocketCall::Write(next.span));
                self.no_delay(true);
            }
            Http::Http2 => {
                if !self.corked {
                    self.no_delay(false);
                }
                self.cork(true);
                self.calls.push_back(SocketCall::Write(next.span));
            }
            _ => {
                self.calls.push_back(SocketCall::Write(next.span));
                if next.ends {
                    self.no_delay(true);
                }
            }
        }
    }

    /// Records that there is nothing to write now; `is_owed`: for want of room.
    pub(super) fn record_pause(&mut self, is_owed: bool) {
        self.is_behind = is_owed;
        self.cork(false);
    }

    fn cork(&mut self, on: bool) {
        if std::mem::replace(&mut self.corked, on) != on {
            self.calls.push_back(SocketCall::Cork(on));
        }
    }

    fn no_delay(&mut self, on: bool) {
        if std::mem::replace(&mut self.no_delay, on) != on {
            self.calls.push_back(SocketCall::NoDelay(on));
        }
    }
}
