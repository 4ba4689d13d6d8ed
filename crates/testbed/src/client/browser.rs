//! Clients that load the page in real time: the loader of the simulations, or an installed curl or
//! Chromium.

use super::chromium::{Chromium, ChromiumVisitor};
use super::curl::{Curl, CurlVisitor};
use super::run;
use crate::client_protocol::ClientProtocol;
use crate::contender::Contender;
use crate::exchange::{Exchange, NewConnection};
use crate::real::Real;
use crate::site;
use emulator::Namespace;
use race::World;
use race::{MeasuredLoad, Race, TIME_LIMIT};
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use tokio::sync::mpsc;
use tokio::task::spawn_local;

/// Client that loads the page in real time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Browser {
    /// The loader of crate `workload`, as in simulation.
    #[default]
    Loader,
    /// curl, once for each visit.
    Curl(Curl),
    /// Chromium, once for each visit.
    Chromium(Chromium),
}

impl Browser {
    /// Name of the client in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Loader => "loader",
            Self::Curl(curl) => curl.version(),
            Self::Chromium(chromium) => chromium.version(),
        }
    }

    /// True if it is the loader that simulations have.
    pub const fn is_loader(&self) -> bool {
        matches!(self, Self::Loader)
    }

    /// Returns the reason why the client cannot make a race's visits, among the contenders of the
    /// real worlds; `None` if it can.
    pub fn refusal(
        &self,
        race: &Race,
        contenders: &[Contender],
        worlds: &[World],
    ) -> Option<String> {
        let refusal = match self {
            Self::Loader => return None,
            Self::Curl(_) => CurlVisitor::unsupported_reason(race),
            // nginx has files without meaning.
            Self::Chromium(_) if worlds.contains(&World::Kernel) => {
                Some("our endpoint alone serves documents: --on sim,wire".to_owned())
            }
            Self::Chromium(_) => ChromiumVisitor::unsupported_reason(race),
        };
        let races = |one: &&Contender| worlds.iter().any(|world| Real::of(one, *world).is_some());
        let of_contender = |one: &Contender| {
            let why = site::unsupported_reason(&race.page, &one.loader(race))?;
            Some(format!("{}: {why}", one.name()))
        };
        refusal.or_else(|| contenders.iter().filter(races).find_map(of_contender))
    }

    /// Highest protocol that the client supports.
    pub(crate) const fn client_protocol(&self) -> ClientProtocol {
        match self {
            Self::Loader => ClientProtocol::Counts,
            Self::Curl(_) => ClientProtocol::Http,
            Self::Chromium(_) => ClientProtocol::Documents,
        }
    }

    /// Made ready for visits.
    pub(crate) fn open(
        &self,
        exchange: &Exchange,
        openings: mpsc::UnboundedReceiver<NewConnection>,
        BrowserVantage { namespace, own, servers }: BrowserVantage<'_>,
    ) -> Visitor {
        match self {
            Self::Loader => {
                spawn_local(run(exchange.clone(), openings, own, servers));
                Visitor::Loader(exchange.clone())
            }
            Self::Curl(curl) => {
                Visitor::Curl(CurlVisitor::new(curl, exchange, namespace, &servers))
            }
            Self::Chromium(chromium) => {
                let visitor = ChromiumVisitor::new(chromium, exchange, namespace, &servers);
                Visitor::Chromium(visitor)
            }
        }
    }
}

impl FromStr for Browser {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "loader" => Ok(Self::Loader),
            "curl" => Curl::installed().map(Self::Curl).ok_or_else(|| {
                "no curl in PATH: install it (Debian's package is called curl)".to_owned()
            }),
            "chromium" => Chromium::installed().map(Self::Chromium).ok_or_else(|| {
                "no chromium in PATH: install it (Debian's package is called chromium)".to_owned()
            }),
            _ => Err("use loader, curl or chromium".to_owned()),
        }
    }
}

/// Where a browser is, and where it finds servers.
pub(crate) struct BrowserVantage<'a> {
    pub(crate) namespace: &'a Namespace,
    /// Its address in the namespace.
    pub(crate) own: SocketAddr,
    /// Addresses of the servers, by the page's hosts.
    pub(crate) servers: Vec<SocketAddr>,
}

/// A browser with a page before it.
pub(crate) enum Visitor {
    Loader(Exchange),
    Curl(CurlVisitor),
    Chromium(ChromiumVisitor),
}

impl Visitor {
    /// Makes one visit, given up after [`TIME_LIMIT`], and takes a measurement at its end.
    ///
    /// # Errors
    /// If the machine starts no process.
    pub(crate) async fn visit<T>(
        &self,
        again: bool,
        measure: impl FnOnce() -> T,
    ) -> io::Result<(MeasuredLoad, T)> {
        match self {
            Self::Loader(exchange) => {
                let visit = exchange.visit(again, TIME_LIMIT).await;
                Ok((visit, measure()))
            }
            Self::Curl(load) => load.visit(TIME_LIMIT, measure).await,
            Self::Chromium(load) => load.visit(TIME_LIMIT, measure).await,
        }
    }
}
