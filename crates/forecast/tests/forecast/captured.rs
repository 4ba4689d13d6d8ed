//! The visitors of a race, as its server's capture shows them.

use forecast::{CapturedVisitors, Visitors};
use race::{MeasuredLoad, Race};
use std::path::Path;
use tcp::Scheme;
use trace::testing::merged::seen_by_server;
use trace::{EngineConfig, ProfileSurvey, TraceEngine, Vantage};

/// The visitors, and the scheme that explains the server's packets.
pub(crate) fn visitors(load: &MeasuredLoad, race: &Race) -> (CapturedVisitors, Scheme) {
    let of = |direction: &str| {
        let named = load.captures.iter().find(|(name, _)| name.contains(direction));
        &named.expect("a capture of each direction").1[..]
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let segments = seen_by_server(folder, of("down-sent"), of("up"), race.path.delays().reverse);
    let config = EngineConfig { vantage: Some(Vantage::Server), ..EngineConfig::default() };
    let models = ProfileSurvey::of(&config, &segments, 1).models;
    let config = EngineConfig { models: models.clone(), ..config };
    let mut engine = TraceEngine::new(config, Visitors::up_to(1_000));
    segments.iter().for_each(|segment| engine.on_segment(segment));
    let visitors = engine.finish_all().0.finish();
    assert_eq!((visitors.clients.len(), visitors.left_out), (1, 0));
    let (running, by_all) = visitors.most_used_scheme(&models).expect("there are transfers");
    assert!(by_all);
    (visitors, running)
}
