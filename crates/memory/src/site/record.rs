//! Records of a site's memory that outlive a restart and are exchanged with other gateways.

use super::forgotten::ForgottenSamples;
use super::kept::{KeptSample, Tick};
use super::origins::Origins;
use super::store::{Entry, EntryKey};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Samples of a record at most.
const MAX_SAMPLES: usize = super::SAMPLES_PER_BUSY_NETWORK;

/// One gateway's samples of one network, to be kept or exchanged.
///
/// Gateways that exchange records have to reckon time from one origin, for example 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteRecord {
    /// The network, or a prefix that covers networks; `0.0.0.0/0` is the site itself.
    pub network: IpNet,
    /// The gateway that received the reports ([`super::SiteConfig::origin`]).
    pub origin: u32,
    /// Time of the newest sample, in steps of 2^30 ns from the origin of time.
    #[serde(rename = "heard")]
    pub newest_at: u32,
    /// Reports until then; with `newest_at` it says which of two records is the later.
    pub sequence: u32,
    /// Seven bytes a sample: the lower half of its time, low byte first, then codes of window, rate
    /// and round trip, and the reporter. The last byte identifies the sample's network under a
    /// covering prefix. Under a network itself it has the number of segments that its loss took of
    /// a flight of up to 32, 1 to 5; any other value there: not known.
    pub samples: Vec<u8>,
}

/// A network that a site knows something of, for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteNetwork {
    /// Its prefix.
    pub network: IpNet,
    /// Reports ever taken in; starts again at 2^32.
    pub reports: u32,
    /// Samples kept.
    pub samples: u32,
}

impl SiteNetwork {
    /// Describes the network of an entry. Returns `None` for a prefix that covers several networks.
    pub(super) fn of<const N: usize>(entry: &Entry<N>) -> Option<Self> {
        let prefix = entry.key().prefix;
        let samples = entry.places.iter().filter(|place| !place.is_free()).count() as u32;
        let network = prefix.is_network().then(|| prefix.network())?;
        Some(Self { network, reports: entry.sequence, samples })
    }
}

impl SiteRecord {
    /// Bytes of a sample.
    pub const SAMPLE_BYTES: usize = KeptSample::BYTES;

    /// Creates the record of an entry, with its samples.
    pub(super) fn of<const N: usize>(entry: &Entry<N>, origins: &Origins) -> Self {
        let key = entry.key();
        let kept = entry.places.iter().filter(|place| !place.is_free());
        Self {
            network: key.prefix.network(),
            origin: origins.number_of(key.origin),
            newest_at: entry.newest_at.0,
            sequence: entry.sequence,
            samples: kept.flat_map(|place| place.to_bytes()).collect(),
        }
    }

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.samples.len() / KeptSample::BYTES
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) const fn version(&self) -> (u32, u32) {
        (self.newest_at, self.sequence)
    }

    /// Returns the time of its oldest sample.
    pub(super) fn oldest(&self) -> Tick {
        let ages = self.kept().map(|sample| sample.age_at(Tick(self.newest_at)));
        Tick(self.newest_at.saturating_sub(ages.max().unwrap_or(0)))
    }

    /// Returns the entry that keeps this record: its newest `N` samples without forgotten ones;
    /// `None` if all are forgotten.
    pub(super) fn entry<const N: usize>(
        &self,
        key: EntryKey,
        forgotten: Option<&ForgottenSamples>,
    ) -> Option<Entry<N>> {
        let mut entry = Entry::new(key);
        (entry.newest_at, entry.sequence) = (Tick(self.newest_at), self.sequence);
        let mut kept = [KeptSample::default(); MAX_SAMPLES];
        for (place, sample) in kept.iter_mut().zip(self.kept()) {
            *place = sample;
        }
        entry.fill(&kept);
        let has_forgotten = forgotten.is_some_and(|samples| entry.forget(samples));
        (!has_forgotten || !entry.is_empty()).then_some(entry)
    }

    fn kept(&self) -> impl Iterator<Item = KeptSample> {
        let (samples, _) = self.samples.as_chunks::<{ KeptSample::BYTES }>();
        samples.iter().map(|bytes| KeptSample::from_bytes(*bytes))
    }
}
