//! What clients and servers of real worlds say to each other.

/// What clients and servers say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// How many bytes they are sent; the exchange tells them what that means.
    Counts,
    /// HTTP.
    Http,
    /// HTTP, with bodies that reveal the page's objects ([`crate::documents`]).
    Documents,
}
