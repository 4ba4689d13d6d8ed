//! Tasks beside the server: notifies subscribers, reads revocations, warns, and saves.

use crate::config::DaemonConfig;
use crate::os::clock::SiteClock;
use crate::os::log::{LogPriority, say};
use crate::pki::{beginning, ending};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use crate::storage::snapshot::SnapshotFile;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use units::counted;

/// Maximum delay of notifications about changes.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(100);
/// Time between two looks at the list of revoked certificates.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two warnings that the gateway's certificate ends.
const WARNING_INTERVAL: Duration = Duration::from_secs(86_400);

/// Notifies subscribers of changes, rereads the list of revoked certificates, and warns once a day
/// that the certificate ends. These take no time.
pub(super) async fn run_chores(site: Arc<GatewaySite>) {
    let mut tell = tokio::time::interval(NOTIFY_INTERVAL);
    let mut look = tokio::time::interval(LOOK_INTERVAL);
    let mut warn = tokio::time::interval(WARNING_INTERVAL);
    // `Daemon::open` has warned already.
    warn.tick().await;
    loop {
        tokio::select! {
            _ = tell.tick() => site.tell_changes(site.clock.now()),
            _ = look.tick() => reread_revocations(&site),
            _ = warn.tick() => warn_of_end(&site),
        }
    }
}

/// Logs how many networks are forgotten with a tenant that the new configuration does not have: one
/// that is removed by mistake does not get its memory back.
pub(super) fn warn_of_removed_tenant(gone: &Tenant) {
    let networks = gone.memory().networks().count() as u64;
    let what = format!(
        "tenant {} is not in the configuration any more: what it knew of {} is forgotten, also if it comes back",
        gone.name,
        counted(networks, "network")
    );
    say(LogPriority::Warning, &what);
}

/// Warns that the certificate is not valid yet. Agents refuse it themselves, and it serves from its
/// time on without a restart.
pub(super) fn warn_of_start(config: &DaemonConfig) {
    // The file has been read before.
    if let Ok(Some(what)) = beginning(&config.tls.certificate, SiteClock::wall_seconds()) {
        say(LogPriority::Warning, &what);
    }
}

/// Warns if the process can read keys that it does not need.
pub(super) fn warn_of_keys(file: &Path, config: &DaemonConfig) {
    if let Some(what) = super::warning_of_keys(file, config) {
        say(LogPriority::Warning, &what);
    }
}

/// Logs that the certificate ends, if that is soon.
pub(super) fn warn_of_end(site: &GatewaySite) {
    let (end, now) = (site.certificate_end(), SiteClock::wall_seconds());
    let priority = if end < now { LogPriority::Error } else { LogPriority::Warning };
    if let Some(what) = ending(end, now) {
        say(priority, &what);
    }
}

/// Writes the networks of each order to forget at once, into the snapshot's file if there is one: a
/// gateway that is killed must not remember them again.
pub(super) async fn save_forgets_at_once(
    site: Arc<GatewaySite>,
    snapshot: Option<Arc<SnapshotFile>>,
) {
    let Some(snapshot) = snapshot else { return };
    loop {
        site.forgets().await;
        let (site, snapshot) = (Arc::clone(&site), Arc::clone(&snapshot));
        let _ = tokio::task::spawn_blocking(move || {
            if let Err(why) = snapshot.save_forgets(&site) {
                say(LogPriority::Error, &why);
            }
        })
        .await;
    }
}

/// Writes snapshots, one at a time, until the gateway ends. Nothing else waits for the disk.
pub(super) async fn save_snapshots(
    site: Arc<GatewaySite>,
    snapshot: Option<Arc<SnapshotFile>>,
    every: Duration,
    mut ended: watch::Receiver<bool>,
) {
    let Some(snapshot) = snapshot else { return };
    let mut save = tokio::time::interval(every);
    save.set_missed_tick_behavior(MissedTickBehavior::Delay);
    save.tick().await;
    loop {
        tokio::select! {
            // An error means that the sender is gone: the gateway has ended.
            _ = ended.wait_for(|ended| *ended) => return,
            _ = save.tick() => {}
        }
        let (site, snapshot) = (Arc::clone(&site), Arc::clone(&snapshot));
        let saving = move || {
            if let Err(why) = snapshot.save(&site) {
                say(LogPriority::Error, &why);
            }
        };
        let _ = tokio::task::spawn_blocking(saving).await;
    }
}

/// Rereads the list of revoked certificates if it has changed, and logs its length, or why it
/// cannot be read.
pub(super) fn reread_revocations(site: &GatewaySite) {
    match site.reread_revocations() {
        Ok(true) => say(
            LogPriority::Notice,
            &format!(
                "the list of revoked certificates has {}",
                counted(site.revocations.len() as u64, "line")
            ),
        ),
        Ok(false) => {}
        Err(why) => {
            let then = match site.revocations.is_unknown() {
                false => "the list in force stays, with what could be read".to_owned(),
                true => format!(
                    "the list could not be read for {} s (revoked-grace): no certificate is accepted until it can; an empty file revokes none",
                    site.revocations.grace().as_secs()
                ),
            };
            say(LogPriority::Error, &format!("{why}; {then}"));
        }
    }
}
