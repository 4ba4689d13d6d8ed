//! Pages that a real browser loads from a real web server, each with one built-in cause of its
//! time.
//!
//! A case ([`PageCase`]) is a path, a site and the cause. Chromium loads the site from nginx over
//! the emulated link (`load`), and the load becomes a HAR file (`har`). The reader of that file,
//! `headstart race`, has to name the cause, and so has the analyser if the capture shows it
//! (`judge`). Neither knows the case.

mod case;
mod cases;
mod har;
mod judge;
mod load;
mod site;
mod slow;

pub use case::{CriticalMark, PageCase};
pub use judge::JudgedPage;
pub use load::{LoadedPage, PagePeers};
pub use site::PageTransport;

/// All cases.
pub fn cases() -> Vec<PageCase> {
    cases::all()
}
