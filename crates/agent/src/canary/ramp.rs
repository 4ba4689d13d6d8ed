//! The canary's share of connections, and its stage. Both change while the agent runs, by command
//! or by a new configuration.

use crate::contract::ConnectionSettings;
use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ramp {
    /// Connections of a million, set by `headstart agent ramp`; `None`: the configuration's number.
    said: Option<u32>,
    stage: u32,
}

impl Ramp {
    /// Returns the settings as the configuration has them, with what counts now.
    pub(crate) fn apply_to(&self, settings: ConnectionSettings) -> ConnectionSettings {
        let canary = self.said.unwrap_or(settings.canary);
        ConnectionSettings { canary, stage: self.stage, ..settings }
    }

    /// Sets the share, connections of a million, and returns the share before. `configured`: the
    /// configuration's share, which applied if none was set.
    pub(crate) fn set(&mut self, share: u32, configured: u32) -> u32 {
        let was = self.said.unwrap_or(configured);
        self.said = Some(share);
        if was != share {
            self.stage += 1;
        }
        was
    }

    /// Applies a reloaded configuration. A share that it changes replaces the share that was set;
    /// otherwise the latter remains. If nothing changes at all, the comparison goes on.
    pub(crate) fn on_reload(&mut self, (old, new): (u32, u32), is_as_before: bool) {
        if old != new {
            self.said = None;
        }
        if !is_as_before {
            self.stage += 1;
        }
    }

    /// Begins the next stage, because a condition of the comparison has changed.
    pub(crate) const fn next_stage(&mut self) {
        self.stage += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_last_counts() {
        let mut ramp = Ramp::default();
        assert_eq!(ramp.set(50_000, 10_000), 10_000);
        assert_eq!((ramp.said, ramp.stage), (Some(50_000), 1));
        // The same again, and a file that is as it was: nothing changes.
        assert_eq!(ramp.set(50_000, 10_000), 50_000);
        ramp.on_reload((10_000, 10_000), true);
        assert_eq!((ramp.said, ramp.stage), (Some(50_000), 1));
        // Another key of the file.
        ramp.on_reload((10_000, 10_000), false);
        assert_eq!((ramp.said, ramp.stage), (Some(50_000), 2));
        ramp.on_reload((10_000, 20_000), false);
        assert_eq!((ramp.said, ramp.stage), (None, 3));
    }
}
