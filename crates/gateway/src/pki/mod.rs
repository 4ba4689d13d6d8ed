//! Authentication: certificates of a site's own authority, the identity of their holders, and
//! revocation.
//!
//! A certificate names its holder by one URI (SPIFFE's form): by default
//! `spiffe://headstart/tenant/TENANT/agent/NAME`. No other part of it and no message identifies the
//! sender. The holder's permissions are in the gateway's configuration, by tenant.

mod client_authority;
mod holder;
mod identity;
mod issue;
mod own;
mod pem;
mod request;
mod revocation;
mod tls;

pub use client_authority::ClientAuthority;
pub use holder::{Holder, HolderRole, HolderRule, HolderRules, is_name};
pub use identity::{Identity, IdentityError};
pub use issue::{Authority, CertificateContent, IssueError, Issued};
pub use own::{beginning, earliest_end, ending, hosts_of_file};
pub use pem::TlsError;
pub use request::{CertificateRequest, RequestError, request};
pub use revocation::{
    CertificateSerial, Fingerprint, RevocationEntry, Revocations, add_revocation,
    fingerprint_of_file, other_signatures,
};
pub use tls::{AcceptsHolder, TlsFiles, server_config};
