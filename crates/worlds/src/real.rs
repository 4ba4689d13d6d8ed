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
        match (world, contender) {
            (World::Sim, _) | (World::Wire, Contender::Agent(_)) => None,
            (World::Wire, Contender::Core(scheme)) => Some(Self::Wire(scheme)),
            (World::Kernel, Contender::Core(scheme)) => {
                Stock::modelled_by(scheme).map(|stock| Self::Kernel(Control::Stock(stock)))
            }
            (World::Kernel, Contender::Agent(scheme)) => {
                Some(Self::Kernel(Control::Attended(scheme)))
            }
        }
    }
}

/// True if servers can run the contender in `world`.
pub fn runs_in(contender: &Contender, world: World) -> bool {
    match contender {
        Contender::Core(_) if world == World::Sim => true,
        _ => Real::of(contender, world).is_some(),
    }
}
