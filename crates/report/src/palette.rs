//! Every colour of every page, and what it stands for. No colour is written anywhere else.
//!
//! A hue has one meaning on a page. A scheme keeps its own in all figures, and so do a cause, a
//! phase of a load, an event of bytes, and a bound of a sender. Good and bad are apart from all of
//! these. Readers who are colour-blind can distinguish each family, too. It stands out from the
//! page in light and in dark: `tests` measures it. [`sheet`] is the palette as a style sheet,
//! [`light_classes`] as one of files that are always on white.

#[cfg(test)]
mod tests;

use std::fmt::Write;

/// A colour by what it stands for, so that light, dark and print each choose their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// The colour of text.
    #[default]
    Ink,
    /// Subdued text.
    Muted,
    /// One of the [`Colour::COUNT`] hues of schemes, or of the curves of a figure without schemes;
    /// larger numbers repeat them.
    Hue(usize),
    /// One of as many hues of causes that are known by name alone; larger numbers repeat them.
    Cause(usize),
    /// A meaning that has a colour of its own.
    Role(Role),
}

/// A meaning with a colour of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Phase of an object: it waits for a connection.
    Blocked,
    /// Phase: the name of its host is looked up.
    Lookup,
    /// Phase: TCP's handshake.
    Connect,
    /// Phase: TLS's handshake.
    Secure,
    /// Phase: from the request to the first byte of the response.
    Wait,
    /// Phase: from the first to the last byte.
    Receive,
    /// Event: bytes sent for the first time.
    Sent,
    /// Event: bytes acknowledged cumulatively.
    Acked,
    /// Event: bytes acknowledged selectively.
    Sacked,
    /// Event: bytes retransmitted.
    Retransmitted,
    /// Event: a packet dropped on its way.
    Dropped,
    /// Content of a queue.
    Queued,
    /// The congestion window bounds the sender.
    Cwnd,
    /// The receiver's window does.
    ReceiveWindow,
    /// The path does: it carries no more.
    Path,
    /// The server does: it has nothing to send yet.
    Server,
    /// Round trips do that no window shortens, such as handshakes.
    Rounds,
    /// Recovery from a loss does.
    Recovery,
    /// The browser does: it has not asked yet. A phase of an object has the same colour.
    Client,
    /// A good result.
    Good,
    /// A bad result.
    Bad,
}

/// A colour in light and dark; print has the light one. The name is that of its class and its
/// variable.
pub(crate) struct Tone {
    pub(crate) name: &'static str,
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

const fn new_tone(name: &'static str, light: &'static str, dark: &'static str) -> Tone {
    Tone { name, light, dark }
}

/// The page itself.
const BASE: [Tone; 7] = [
    new_tone("bg", "#ffffff", "#14181f"),
    new_tone("raised", "#f6f7f9", "#1c222b"),
    new_tone("ink", "#1c2330", "#e3e7ee"),
    new_tone("muted", "#5d6675", "#9aa5b4"),
    new_tone("rule", "#d5dae1", "#38414e"),
    new_tone("grid", "#e8ebef", "#262d37"),
    new_tone("accent", "#0059a8", "#76b7f2"),
];

/// The page where it is printed otherwise than it is light.
const PRINT: [(&str, &str); 6] = [
    ("raised", "#ffffff"),
    ("ink", "#000000"),
    ("muted", "#444444"),
    ("rule", "#aaaaaa"),
    ("grid", "#dddddd"),
    ("accent", "#000000"),
];

const HUES: [Tone; Colour::COUNT] = [
    new_tone("c0", "#2064b5", "#4496d7"),
    new_tone("c1", "#c74901", "#fb883f"),
    new_tone("c2", "#50926d", "#2fc497"),
    new_tone("c3", "#a54080", "#c46fa1"),
    new_tone("c4", "#b88d0d", "#f4c041"),
    new_tone("c5", "#009ce3", "#96d2f2"),
    new_tone("c6", "#562997", "#a7a9fc"),
];

const CAUSES: [Tone; Colour::COUNT] = [
    new_tone("k0", "#10a683", "#42d4a5"),
    new_tone("k1", "#955636", "#cb885c"),
    new_tone("k2", "#2a379f", "#6f7fdf"),
    new_tone("k3", "#602851", "#aa6da5"),
    new_tone("k4", "#d9743c", "#f2a264"),
    new_tone("k5", "#38727a", "#72adb8"),
    new_tone("k6", "#850309", "#cd4f52"),
];

const PHASES: [Tone; 6] = [
    new_tone("p-blocked", "#8a8e97", "#a9b0ba"),
    new_tone("p-lookup", "#453d99", "#69e3ff"),
    new_tone("p-connect", "#cc8417", "#f8b56a"),
    new_tone("p-secure", "#9059ae", "#b07dc8"),
    new_tone("p-wait", "#3e7c34", "#6da94f"),
    new_tone("p-receive", "#4990e1", "#73b2fd"),
];

const EVENTS: [Tone; 6] = [
    new_tone("e-sent", "#3c5b7d", "#98add1"),
    new_tone("e-acked", "#2e8522", "#98d967"),
    new_tone("e-sacked", "#2a9b93", "#5bdddb"),
    new_tone("e-retransmitted", "#bb009d", "#d55cb1"),
    new_tone("e-dropped", "#e73835", "#ff5848"),
    new_tone("e-queued", "#8b8ed0", "#6197e3"),
];

const BOUNDS: [Tone; 7] = [
    new_tone("b-cwnd", "#617615", "#a8d275"),
    new_tone("b-rwnd", "#8d6be8", "#b69cf8"),
    new_tone("b-path", "#3f6cb5", "#5a8bda"),
    new_tone("b-server", "#b98531", "#d39f30"),
    new_tone("b-rounds", "#0b939d", "#51bbbc"),
    new_tone("b-recovery", "#cc5a75", "#d67083"),
    new_tone("b-client", "#823059", "#a8476e"),
];

const STATES: [Tone; 2] =
    [new_tone("s-good", "#017454", "#57db9b"), new_tone("s-bad", "#b92715", "#ef7669")];

/// Steps of a heat map to either side, the nearest to its middle first. Text on the first
/// [`HEAT_ON_INK`] has the colour of text, on the others that of the page.
pub(crate) const HEAT_STEPS: usize = 8;
/// See [`HEAT_STEPS`].
const HEAT_ON_INK: usize = 5;

const BETTER: [Tone; HEAT_STEPS] = [
    new_tone("g1", "#e9f3ff", "#152433"),
    new_tone("g2", "#cfe6ff", "#19324b"),
    new_tone("g3", "#b1d7ff", "#1c4064"),
    new_tone("g4", "#8dc4fe", "#214f7c"),
    new_tone("g5", "#68aef5", "#265f95"),
    new_tone("g6", "#0470c0", "#4d97de"),
    new_tone("g7", "#005696", "#79b6f4"),
    new_tone("g8", "#003e71", "#afd5fe"),
];

const WORSE: [Tone; HEAT_STEPS] = [
    new_tone("b1", "#feeee6", "#301e13"),
    new_tone("b2", "#ffdac7", "#462715"),
    new_tone("b3", "#fcc5a7", "#5d3116"),
    new_tone("b4", "#f4ac85", "#733c1a"),
    new_tone("b5", "#e8905e", "#8a481e"),
    new_tone("b6", "#ab4f00", "#d07843"),
    new_tone("b7", "#853c00", "#e99c70"),
    new_tone("b8", "#642a00", "#fdc2a2"),
];

/// The families whose colours are those of lines, marks and areas.
const FAMILIES: [&[Tone]; 6] = [&HUES, &CAUSES, &PHASES, &EVENTS, &BOUNDS, &STATES];

impl Colour {
    /// Number of distinct hues.
    pub const COUNT: usize = 7;

    /// Class that sets the colour in the page's and the standalone style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Ink => "ink",
            Self::Muted => "muted",
            Self::Hue(n) => HUES[n % Self::COUNT].name,
            Self::Cause(n) => CAUSES[n % Self::COUNT].name,
            Self::Role(role) => role.tone().name,
        }
    }
}

impl Role {
    const fn tone(self) -> &'static Tone {
        match self {
            Self::Blocked => &PHASES[0],
            Self::Lookup => &PHASES[1],
            Self::Connect => &PHASES[2],
            Self::Secure => &PHASES[3],
            Self::Wait => &PHASES[4],
            Self::Receive => &PHASES[5],
            Self::Sent => &EVENTS[0],
            Self::Acked => &EVENTS[1],
            Self::Sacked => &EVENTS[2],
            Self::Retransmitted => &EVENTS[3],
            Self::Dropped => &EVENTS[4],
            Self::Queued => &EVENTS[5],
            Self::Cwnd => &BOUNDS[0],
            Self::ReceiveWindow => &BOUNDS[1],
            Self::Path => &BOUNDS[2],
            Self::Server => &BOUNDS[3],
            Self::Rounds => &BOUNDS[4],
            Self::Recovery => &BOUNDS[5],
            Self::Client => &BOUNDS[6],
            Self::Good => &STATES[0],
            Self::Bad => &STATES[1],
        }
    }
}

/// The palette as a style sheet: a variable for each colour, and a class that sets it. The same
/// text at every call.
pub(crate) fn style_sheet() -> String {
    let mut out = String::from(":root{color-scheme:light dark;");
    variables(&mut out, |tone| tone.light);
    out.push_str("}@media (prefers-color-scheme:dark){:root{");
    variables(&mut out, |tone| tone.dark);
    out.push_str("}}@media print{:root{");
    variables(&mut out, |tone| {
        let printed = PRINT.iter().find(|(name, _)| *name == tone.name);
        printed.map_or(tone.light, |(_, colour)| colour)
    });
    out.push_str("}}.ink{color:var(--ink)}.muted{color:var(--muted)}");
    for tone in FAMILIES.into_iter().flatten() {
        let _ = write!(out, ".{0}{{color:var(--{0})}}", tone.name);
    }
    for ramp in [&BETTER, &WORSE] {
        for (at, tone) in ramp.iter().enumerate() {
            let text = if at < HEAT_ON_INK { "ink" } else { "bg" };
            let _ = write!(out, ".{0}{{background:var(--{0});color:var(--{text})}}", tone.name);
        }
    }
    out
}

fn variables(out: &mut String, colour: impl Fn(&Tone) -> &'static str) {
    let ramps = [&BETTER[..], &WORSE[..]];
    for tone in BASE.iter().chain(FAMILIES.into_iter().chain(ramps).flatten()) {
        let _ = write!(out, "--{}:{};", tone.name, colour(tone));
    }
}

/// The classes alone, with the light colours: for a figure in a file of its own.
pub(crate) fn light_classes() -> String {
    let named = BASE.iter().filter(|tone| ["ink", "muted"].contains(&tone.name));
    let tones = named.chain(FAMILIES.into_iter().flatten());
    tones.map(|tone| format!(".{}{{color:{}}}", tone.name, tone.light)).collect()
}
