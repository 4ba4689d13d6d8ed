//! The palette measured: contrast as WCAG 2.2 has it, differences in `OKLab`, colour blindness
//! after Machado et al.

use super::*;

/// Red, green and blue, linear, from 0 to 1.
type Linear = [f64; 3];

fn linear(hex: &str) -> Linear {
    let channel = |at: usize| {
        let byte = u8::from_str_radix(&hex[at..at + 2], 16).expect("two hexadecimal digits");
        let share = f64::from(byte) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    assert!(hex.len() == 7 && hex.starts_with('#'), "{hex}");
    [channel(1), channel(3), channel(5)]
}

fn times(matrix: &[[f64; 3]; 3], v: Linear) -> Linear {
    matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
}

/// Contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio").
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |hex| {
        let [red, green, blue] = linear(hex);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (a, b) = (luminance(a), luminance(b));
    a.max(b) / a.min(b)
}

/// `OKLab` (Ottosson 2020).
fn oklab(colour: Linear) -> [f64; 3] {
    let cones = times(
        &[
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ],
        colour,
    );
    times(
        &[
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ],
        cones.map(f64::cbrt),
    )
}

/// Ways to see colours: with all kinds of cones, and without one kind (Machado, Oliveira &
/// Fernandes 2009, severity 1).
const VIEWS: [(&str, [[f64; 3]; 3]); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Distance of two colours for a reader with this sight; 0.02 is just noticeable.
fn difference(view: &[[f64; 3]; 3], a: &str, b: &str) -> f64 {
    let seen = |hex| oklab(times(view, linear(hex)).map(|channel| channel.clamp(0.0, 1.0)));
    let (a, b) = (seen(a), seen(b));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The two looks of a page.
const LOOKS: [fn(&Tone) -> &'static str; 2] = [|tone| tone.light, |tone| tone.dark];

fn base(name: &str, look: fn(&Tone) -> &'static str) -> &'static str {
    look(BASE.iter().find(|tone| tone.name == name).expect("a colour of the page"))
}

/// The formulas, by hand: black on white has 21, the greatest contrast; white is (1, 0, 0) in
/// `OKLab`.
#[test]
fn contrast_and_difference_of_black_and_white() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    assert!((difference(&VIEWS[0].1, "#000000", "#ffffff") - 1.0).abs() < 1e-3);
    // To who has no red cones, red is dark: nearer to black than green is.
    let to_black = |hex| difference(&VIEWS[1].1, hex, "#000000");
    assert!(to_black("#ff0000") < 0.75 * to_black("#00ff00"));
}

/// Text has 4.5 at least (WCAG 2.2, 1.4.3), what is drawn 3 (1.4.11).
#[test]
fn colours_stand_out_from_the_page() {
    for look in LOOKS {
        let page = base("bg", look);
        for text in ["ink", "muted", "accent"] {
            for below in ["bg", "raised"] {
                let found = contrast(base(text, look), base(below, look));
                assert!(found >= 4.5, "{text} on {below}: {found:.2}");
            }
        }
        for tone in FAMILIES.into_iter().flatten() {
            let least = if tone.name.starts_with("s-") { 4.5 } else { 3.0 };
            let found = contrast(look(tone), page);
            assert!(found >= least, "{}: {found:.2}", tone.name);
        }
    }
}

/// Any two colours of one family are four times the least difference apart, however many cones a
/// reader has.
#[test]
fn a_family_is_told_apart_by_everybody() {
    for look in LOOKS {
        for family in FAMILIES {
            for (at, a) in family.iter().enumerate() {
                for b in &family[..at] {
                    for (who, view) in &VIEWS {
                        let found = difference(view, look(a), look(b));
                        assert!(found >= 0.08, "{} and {}, {who}: {found:.3}", a.name, b.name);
                    }
                }
            }
        }
    }
}

/// The browser's own time is a phase of an object, in the colour that it has as a bound.
#[test]
fn the_browsers_colour_is_told_apart_from_other_phases() {
    for look in LOOKS {
        let browser = look(Role::Client.tone());
        for phase in &PHASES {
            for (who, view) in &VIEWS {
                let found = difference(view, browser, look(phase));
                assert!(found >= 0.08, "{} and the browser, {who}: {found:.3}", phase.name);
            }
        }
    }
}

/// No colour has two meanings.
#[test]
fn families_share_no_colour() {
    for look in LOOKS {
        let all: Vec<&Tone> = FAMILIES.into_iter().flatten().collect();
        for (at, a) in all.iter().enumerate() {
            for b in &all[..at] {
                let found = difference(&VIEWS[0].1, look(a), look(b));
                assert!(found >= 0.03, "{} and {}: {found:.3}", a.name, b.name);
            }
        }
    }
}

/// Each step of a heat map differs from the one before, more of it is further from the page, and
/// what is written on it can be read.
#[test]
fn steps_of_heat_rise_and_carry_text() {
    for look in LOOKS {
        for ramp in [&BETTER, &WORSE] {
            let mut before = base("bg", look);
            for (at, tone) in ramp.iter().enumerate() {
                let ink = base(if at < HEAT_ON_INK { "ink" } else { "bg" }, look);
                assert!(contrast(look(tone), ink) >= 4.5, "text on {}", tone.name);
                for (who, view) in &VIEWS {
                    let step = difference(view, before, look(tone));
                    assert!(step >= 0.03, "{} and the one before, {who}: {step:.3}", tone.name);
                }
                let further = contrast(look(tone), base("bg", look));
                assert!(further > contrast(before, base("bg", look)), "{}", tone.name);
                before = look(tone);
            }
        }
        // One way is not taken for the other, from the second step on.
        for (better, worse) in BETTER.iter().zip(&WORSE).skip(1) {
            for (who, view) in &VIEWS {
                let found = difference(view, look(better), look(worse));
                assert!(found >= 0.04, "{} and {}, {who}: {found:.3}", better.name, worse.name);
            }
        }
    }
}

#[test]
fn names_are_distinct_and_each_has_a_class() {
    let ramps = [&BETTER[..], &WORSE[..]];
    let tones = BASE.iter().chain(FAMILIES.into_iter().chain(ramps).flatten());
    let mut names: Vec<&str> = tones.map(|tone| tone.name).collect();
    let sheet = style_sheet();
    for name in names.iter().filter(|name| !BASE.iter().any(|tone| tone.name == **name)) {
        assert!(sheet.contains(&format!(".{name}{{")), "{name}");
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
