//! Who may speak: certificates of a site's own authority, what they say of their holder, and those that are revoked.
//!
//! A certificate names its holder by one URI (SPIFFE's form): `spiffe://headstart/tenant/TENANT/agent/NAME`. Nothing else of it
//! and nothing of any message says who speaks. What the holder may do is in the gateway's configuration, by tenant.

mod identity;
mod issue;
mod own;
mod pem;
mod revocation;
mod tls;

pub use identity::{HolderRole, Identity, IdentityError, is_name};
pub use issue::{Authority, IssueError, Issued};
pub use own::{beginning, earliest_end, ending, hosts_of_file};
pub use pem::TlsError;
pub use revocation::{Fingerprint, Revocations, add_revocation};
pub use tls::{ClientAuthority, KnowsTenant, TlsFiles, fingerprint_of_file, server_config};
