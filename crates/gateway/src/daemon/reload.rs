//! Reload: the configuration and the certificates, without a restart.

use super::background::{
    reread_revocations, warn_of_end, warn_of_keys, warn_of_removed_tenant, warn_of_start,
};
use super::notify;
use crate::config::DaemonConfig;
use crate::os::log::{LogPriority, say, set_log_level};
use crate::pki::{ClientAuthority, Identity, KnowsTenant, earliest_end, server_config};
use crate::site::GatewaySite;
use arc_swap::ArcSwap;
use rustls::ServerConfig;
use sd_notify::NotifyState;
use std::path::Path;
use std::sync::Arc;

/// Reloads configuration and certificates. After an error nothing changes.
pub(super) fn reload(
    file: &Path,
    config: &mut DaemonConfig,
    site: &GatewaySite,
    tls_in_force: &ArcSwap<ServerConfig>,
) {
    notify(&[
        NotifyState::Reloading,
        NotifyState::monotonic_usec_now().unwrap_or(NotifyState::Reloading),
    ]);
    match reloaded(file, site) {
        Ok((new, ReadTls { config: tls, authority }, end)) => {
            let fixed = config.fixed_differences(&new);
            if !fixed.is_empty() {
                let keys = fixed.join(", ");
                say(LogPriority::Warning, &format!("{keys}: the new values wait for a restart"));
            }
            tls_in_force.store(Arc::new(tls));
            site.trust.set_authority(authority);
            site.set_certificate_end(end);
            site.set_rules(new.rules.clone()).iter().for_each(|gone| warn_of_removed_tenant(gone));
            set_log_level(new.log);
            config.rules = new.rules.clone();
            say(LogPriority::Notice, "the configuration is reloaded");
            warn_of_start(&new);
            warn_of_end(site);
            warn_of_keys(file, &new);
        }
        Err(why) => say(LogPriority::Error, &format!("{why}; all stays as it was")),
    }
    reread_revocations(site);
    notify(&[NotifyState::Ready]);
}

/// TLS set up from a configuration.
pub(super) struct ReadTls {
    pub(super) config: ServerConfig,
    pub(super) authority: ClientAuthority,
}

/// Returns the configuration, its TLS, and when the certificate ends.
fn reloaded(file: &Path, site: &GatewaySite) -> Result<(DaemonConfig, ReadTls, i64), String> {
    let config = DaemonConfig::read(file)?;
    let permissions = config.rules.permissions.clone();
    let knows = move |identity: &Identity| permissions.of(identity).is_some();
    let tls = read_tls(&config, site, Arc::new(knows))?;
    let end = earliest_end(&config.tls.certificate)?;
    Ok((config, tls, end))
}

pub(super) fn tls(config: &DaemonConfig, site: &Arc<GatewaySite>) -> Result<ReadTls, String> {
    let rules = Arc::clone(site);
    let knows = move |identity: &Identity| rules.rules().permissions.of(identity).is_some();
    read_tls(config, site, Arc::new(knows))
}

/// Reads the authority and the gateway's own certificate from their files.
fn read_tls(
    config: &DaemonConfig,
    site: &GatewaySite,
    knows: Arc<KnowsTenant>,
) -> Result<ReadTls, String> {
    let authority = ClientAuthority::read(&config.tls.ca)?;
    let revocations = Arc::clone(&site.revocations);
    let config = server_config(&config.tls, &authority, revocations, knows)?;
    Ok(ReadTls { config, authority })
}
