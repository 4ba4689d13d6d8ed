//! Which contender runs in which world, and by what.

use crate::contender::Contender;
use crate::kernel::{Control, Stock};
use race::World;
use tcp::Scheme;

/// What serves a page in real time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Real<'a> {
    /// Our endpoint, under this scheme.
    Wire(&'a Scheme),
    /// Linux.
    Kernel(Control<'a>),
}

impl<'a> Real<'a> {
    /// What it takes in real time; `None` if it is simulated, or the world has no such contender.
    pub(crate) fn of(contender: &'a Contender, world: World) -> Option<Self> {
        let scheme = contender.scheme();
        match (world, contender.agent()) {
            (World::Sim, _) => None,
            (World::Wire, _) => Some(Self::Wire(scheme)),
            (World::Kernel, Some(agent)) => Some(Self::Kernel(Control::Attended(agent))),
            (World::Kernel, None) => {
                Stock::modelled_by(scheme).map(|stock| Self::Kernel(Control::Stock(stock)))
            }
        }
    }
}

/// True if servers can run the contender in `world`.
pub fn runs_in(contender: &Contender, world: World) -> bool {
    world == World::Sim || Real::of(contender, world).is_some()
}
