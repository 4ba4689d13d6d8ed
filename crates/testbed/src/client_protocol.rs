//! Protocol between clients and servers of real worlds.

/// Protocol between clients and servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientProtocol {
    /// Numbers of bytes; the exchange knows their meaning.
    Counts,
    /// HTTP.
    Http,
    /// HTTP, with bodies that reveal the page's objects ([`crate::documents`]).
    Documents,
}
