//! Identifiers of objects in one simulation: indices, in the order in which they were added.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A point where links meet: a host or a router.
    NodeId
);
id!(
    /// An end host.
    HostId
);
id!(
    /// One direction of a wire.
    LinkId
);
id!(
    /// An application.
    AppId
);

/// A connection seen from outside: the host at the other end and both ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer {
    /// The other end.
    pub host: HostId,
    /// Port at the other end.
    pub port: u16,
    /// Port at this end.
    pub local_port: u16,
}
