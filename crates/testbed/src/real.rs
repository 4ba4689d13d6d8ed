//! Assignment of contenders to the programs that run them in each real world.

use crate::contender::Contender;
use crate::kernel::{Control, Stock};
use race::World;
use tcp::Scheme;

/// Server of a page in real time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Real<'a> {
    /// Our endpoint, under this scheme.
    Wire(&'a Scheme),
    /// Linux.
    Kernel(Control<'a>),
}

impl<'a> Real<'a> {
    /// Returns the server of a contender in real time; `None` if the world is simulated or does not
    /// have it.
    pub(crate) fn of(contender: &'a Contender, world: World) -> Option<Self> {
        let scheme = contender.scheme();
        match (world, contender.agent()) {
            (World::Sim, _) => None,
            (World::Wire, _) => Some(Self::Wire(scheme)),
            (World::Kernel, Some(agent)) => Some(Self::Kernel(Control::Hooked(agent))),
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
