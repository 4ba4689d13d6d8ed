//! Who may speak: certificates of a site's own authority, what they say of their holder, and those that are revoked.
//!
//! A certificate names its holder by one URI (SPIFFE's form): `spiffe://headstart/tenant/TENANT/agent/NAME`. Nothing else of it
//! and nothing of any message says who speaks. What the holder may do is in the gateway's configuration, by tenant.

mod identity;
mod issue;
mod revocation;
mod tls;

pub(crate) use identity::is_name;
pub use identity::{HolderRole, Identity, IdentityError};
pub use issue::{Authority, IssueError, Issued};
pub use revocation::{Fingerprint, Revocations, revoke};
pub use tls::{KnowsTenant, TlsError, TlsFiles, fingerprint_of_file, server_config};
