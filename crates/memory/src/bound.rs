//! The bound of a reported window.

/// The bound that kept a window from being larger. Only a loss shows what a network carries; every
/// other bound makes the window a lower bound of that (a censored sample).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportBound {
    /// A loss, or an ECN mark.
    Loss,
    /// The window that the receiver offered.
    ReceiveWindow,
    /// The application, which had no more to send at the time.
    Application,
    /// The sender's own start: it used the whole of its window, and nothing was lost.
    OwnStart,
    /// The transfer was over before its window was used.
    Over,
}
