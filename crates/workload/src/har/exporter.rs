//! Differences between the programs that write HAR files, identified by `log.creator.name`.
//!
//! HAR 1.2 says that `connect` includes `ssl`, and that `bodySize` has no headers. The exporters
//! differ as follows.
//!
//! | exporter | creator | `ssl` | `bodySize` |
//! |---|---|---|---|
//! | Chromium, Chrome, Edge | `WebInspector` | inside `connect` | body, -1 over HTTP/2; `_transferSize` has all bytes |
//! | Playwright | `Playwright` | inside `connect` | body |
//! | Firefox | `Firefox` | **after** `connect`, which is TCP alone | **header and body** |
//! | Safari | `WebKit Web Inspector` | inside `connect` | body; `_transferSize` has all bytes |
//! | WebPageTest | `WebPagetest` | inside `connect` | body; `_bytesIn` has all bytes |
//!
//! Sources: `har/Log.ts` of Chrome's developer tools, `har-builder.js` and `NetworkTimings.sys.mjs`
//! of Firefox 153, `HARBuilder.js` of WebKit, `HttpArchiveGenerator.php` of WebPageTest.

/// Program that wrote the file, as far as it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exporter {
    Firefox,
    Safari,
    /// Chromium, Playwright, WebPageTest, and all others that follow HAR 1.2.
    Standard,
}

/// Browsers built from Firefox, which name themselves as creators.
const GECKO: [&str; 7] =
    ["firefox", "waterfox", "librewolf", "floorp", "zen", "tor browser", "mullvad browser"];

impl Exporter {
    /// The exporter that calls itself `creator`.
    pub(super) fn of(creator: &str) -> Self {
        let name = creator.to_lowercase();
        if GECKO.iter().any(|known| name.starts_with(known)) {
            Self::Firefox
        } else if name.starts_with("webkit") {
            Self::Safari
        } else {
            Self::Standard
        }
    }

    /// True if `connect` ends when TCP has connected, and `ssl` follows it.
    pub(super) const fn connects_by_tcp_alone(self) -> bool {
        matches!(self, Self::Firefox)
    }

    /// True if `bodySize` holds the header too.
    pub(super) const fn counts_headers_as_body(self) -> bool {
        matches!(self, Self::Firefox)
    }

    /// True if times of connections that were opened ahead are moved to the beginning of the fetch.
    pub(super) const fn moves_early_connects(self) -> bool {
        matches!(self, Self::Standard)
    }

    /// True if `send` repeats `blocked` where no connection was opened and no name looked up.
    pub(super) const fn repeats_blocked(self) -> bool {
        matches!(self, Self::Safari)
    }

    /// True if an answer from the cache has the key `cache.afterRequest`, whatever its value.
    pub(super) const fn marks_cache(self) -> bool {
        matches!(self, Self::Firefox)
    }
}
