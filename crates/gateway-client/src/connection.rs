//! The connection with a gateway: how it is made, and when another one replaces it.

use crate::config::ClientConfig;
use crate::discovery::{
    Absence, LOOKUP_INTERVAL, MAX_TRIED, ResolvedGateway, addresses_of, gateways_among, is_listed,
};
use crate::streams::{ClientRole, Streams, open};
use crate::transport::{GatewayFault, TlsContents, connect_by};
use tokio::sync::mpsc::Sender;

/// A connected address of a gateway, with its streams.
pub(crate) struct Reached {
    pub(crate) gateway: ResolvedGateway,
    pub(crate) streams: Streams,
    /// Number of gateways behind its name.
    pub(crate) behind_name: usize,
    /// Contents of the files by which it is connected.
    pub(crate) tls: TlsContents,
}

/// Connects to the first address of a gateway that accepts a connection, and opens its streams. The
/// address that has just been `left` is tried last.
pub(crate) async fn reach_any(
    role: ClientRole,
    config: ClientConfig,
    entry: String,
    left: Option<ResolvedGateway>,
) -> Result<Reached, String> {
    let mut whys = Vec::new();
    let mut found = addresses_of(&config.names, &entry).await?;
    let behind_name = gateways_among(&found);
    // The order of the others stays.
    found.sort_by_key(|gateway| left.as_ref() == Some(gateway));
    let tls = TlsContents::read(&config)?;
    for gateway in found.into_iter().take(MAX_TRIED) {
        match reach_address(role, &config, &gateway, &tls).await {
            Ok(streams) => return Ok(Reached { gateway, streams, behind_name, tls }),
            Err(fault) => whys.push(fault.to_string()),
        }
    }
    Err(whys.join("; "))
}

async fn reach_address(
    role: ClientRole,
    config: &ClientConfig,
    gateway: &ResolvedGateway,
    tls: &TlsContents,
) -> Result<Streams, GatewayFault> {
    let channel = connect_by(config, gateway, tls).await?;
    let opened = open(channel, role, &(config.addresses)()).await;
    opened.map_err(|status| GatewayFault::of_status(&status, config, gateway))
}

/// Watches the name of the connected gateway, and the files of TLS. The old connection stays until
/// the one that replaces it is open, so no question and no report waits.
pub(crate) struct Follower {
    pub(crate) role: ClientRole,
    pub(crate) config: ClientConfig,
    pub(crate) entry: String,
    pub(crate) connected: ResolvedGateway,
    pub(crate) behind_name: usize,
    pub(crate) tls: TlsContents,
    /// Receives the reason why renewed files cannot be used.
    pub(crate) unusable: Sender<String>,
}

impl Follower {
    /// Waits for a reason to connect again, and returns the new connection. Reasons are files that
    /// have been renewed, and a name that no longer has the connected address. While a name cannot
    /// be looked up, its gateway stays.
    pub(crate) async fn follow(self) -> Reached {
        let (mut absence, mut unusable) = (Absence::default(), None);
        loop {
            tokio::time::sleep(LOOKUP_INTERVAL).await;
            let tls = match TlsContents::read(&self.config) {
                Ok(tls) => {
                    if tls == self.tls {
                        unusable = None;
                    }
                    tls
                }
                Err(why) => {
                    self.note_unusable(None, why, &mut unusable).await;
                    self.tls.clone()
                }
            };
            let listed = is_listed(&self.config.names, &self.entry, &self.connected).await;
            let is_gone = listed.is_ok_and(|is_listed| absence.note(is_listed));
            let replaced = match (is_gone, tls == self.tls) {
                (true, _) => self.reach_other(tls).await,
                (false, false) => self.renew(tls, &mut unusable).await,
                (false, true) => None,
            };
            if let Some(reached) = replaced {
                return reached;
            }
        }
    }

    /// Connects to another address of the name.
    async fn reach_other(&self, tls: TlsContents) -> Option<Reached> {
        let found = addresses_of(&self.config.names, &self.entry).await.ok()?;
        let behind_name = gateways_among(&found);
        for gateway in found.into_iter().take(MAX_TRIED) {
            if let Ok(streams) = reach_address(self.role, &self.config, &gateway, &tls).await {
                return Some(Reached { gateway, streams, behind_name, tls });
            }
        }
        None
    }

    /// Connects to the same address by renewed files.
    async fn renew(
        &self,
        tls: TlsContents,
        unusable: &mut Option<UnusableFiles>,
    ) -> Option<Reached> {
        let gateway = self.connected.clone();
        match reach_address(self.role, &self.config, &gateway, &tls).await {
            Ok(streams) => Some(Reached { gateway, streams, behind_name: self.behind_name, tls }),
            Err(fault) => {
                self.note_unusable(Some(tls), fault.to_string(), unusable).await;
                None
            }
        }
    }

    /// Reports files that cannot be used twice in a row, once: an operator who replaces them has
    /// replaced only some of them at first.
    async fn note_unusable(
        &self,
        tls: Option<TlsContents>,
        why: String,
        last: &mut Option<UnusableFiles>,
    ) {
        let last_same = last.as_ref().filter(|last| last.tls == tls);
        let is_again = last_same.is_some();
        if last_same.is_some_and(|last| !last.is_reported) {
            // The receiver lives as long as this future.
            let _ = self.unusable.send(why).await;
        }
        *last = Some(UnusableFiles { tls, is_reported: is_again });
    }
}

/// Files of TLS that could not be used.
struct UnusableFiles {
    /// Their contents; `None`: one of them cannot be read.
    tls: Option<TlsContents>,
    is_reported: bool,
}
