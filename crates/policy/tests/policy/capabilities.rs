//! The capabilities of each start-up and controller as the schemes make them.

use policy::config::ConnectionConfig;
use policy::congestion::{
    CONTROLLERS, CongestionControl, ControllerCapabilities, ControllerDescriptor,
};
use policy::registry::{Make, ParameterValues, PolicySetup};
use policy::startup::{STARTUPS, SlowStart, StartUp, StartUpCapabilities, StartUpDescriptor};

fn made<T>(make: impl FnOnce(&PolicySetup<'_>) -> T) -> T {
    let (settings, config) = (ParameterValues::default(), ConnectionConfig::default());
    make(&PolicySetup { settings: &settings, config: &config, judges_again: false })
}

fn startup(descriptor: &StartUpDescriptor) -> Box<dyn StartUp> {
    made(|setup| match descriptor.make {
        Make::Alone(make) => make(setup),
        Make::Around(make) => make(setup, Box::new(SlowStart)),
    })
}

fn controller(descriptor: &ControllerDescriptor) -> Box<dyn CongestionControl> {
    made(|setup| match descriptor.make {
        Make::Alone(make) => make(setup),
        Make::Around(_) => panic!("no controller wraps another"),
    })
}

fn with(capable: impl Fn(&StartUpCapabilities) -> bool) -> Vec<&'static str> {
    let capable = |one: &&&StartUpDescriptor| capable(&startup(one).capabilities());
    STARTUPS.iter().filter(capable).map(|one| one.name).collect()
}

/// Start-ups that only grow the window, or model the path from deliveries, do not look at each ACK.
#[test]
fn start_ups_that_observe_nothing() {
    let blind = ["slowstart", "slowstart-linux", "rapid-start", "bbr", "bbr3", "vegas"];
    assert_eq!(with(|capabilities| !capabilities.observes), blind);
}

/// Vegas judges each round trip, also under rate-based pacing.
#[test]
fn start_ups_that_judge_round_trips() {
    assert_eq!(with(|capabilities| capabilities.needs_rounds), ["vegas", "rbp-vegas"]);
}

/// BBR, Rapid Start and the agent's session answer losses themselves.
#[test]
fn start_ups_that_rule_losses() {
    let rule = ["rapid-start", "bbr", "bbr3", "session-member"];
    assert_eq!(with(|capabilities| capabilities.rules_recovery), rule);
    assert_eq!(with(|capabilities| capabilities.sees_all_acks), ["session-member"]);
}

/// A fresh wrapper rules losses if the start-up in it does.
#[test]
fn wrappers_rule_losses_if_the_wrapped_start_up_does() {
    let bbr = STARTUPS.iter().find(|one| one.name == "bbr").expect("BBR is listed");
    for descriptor in STARTUPS {
        if let Make::Around(make) = descriptor.make {
            let wrapper = made(|setup| make(setup, startup(bbr)));
            assert!(wrapper.capabilities().rules_recovery, "{}", descriptor.name);
            assert!(wrapper.capabilities().observes, "{}", descriptor.name);
        }
    }
}

#[test]
fn controllers_have_the_capabilities_of_their_papers() {
    let none = ControllerCapabilities::default();
    for descriptor in CONTROLLERS {
        let expected = match descriptor.name {
            "bbr" => ControllerCapabilities { rules_recovery: true, ..none },
            "vegas" => ControllerCapabilities { needs_rounds: true, ..none },
            "proxy" => ControllerCapabilities { reduces_by_client: true, ..none },
            _ => none,
        };
        let mut made = controller(descriptor);
        assert_eq!(made.capabilities(), expected, "{}", descriptor.name);
        assert_eq!(made.modelling().is_some(), descriptor.name == "bbr", "{}", descriptor.name);
    }
}
