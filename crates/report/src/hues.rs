//! Hues for a page of many figures, whose curves are known by name alone.

use crate::Colour;

/// A hue for each name on a page, the same in all figures.
///
/// Two curves of one figure have different hues as long as there are any. Names that never meet may
/// share one: a page may have more names than there are hues.
#[derive(Clone, Debug, Default)]
pub struct Hues<'a> {
    names: Vec<(&'a str, usize)>,
}

impl<'a> Hues<'a> {
    /// For the curves of all figures of a page, in the order of the page.
    pub fn of(figures: &[Vec<&'a str>]) -> Self {
        let mut hues = Self::default();
        for name in figures.iter().flatten() {
            if hues.index_of(name).is_none() {
                let hue = hues.free_beside(name, figures);
                hues.names.push((name, hue));
            }
        }
        hues
    }

    /// A name's colour; subdued if it is none of the page's.
    pub fn colour(&self, name: &str) -> Colour {
        self.index_of(name).map_or(Colour::Muted, Colour::Hue)
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| *known == name).map(|(_, hue)| *hue)
    }

    /// The hue that the fewest of the names beside this one have, and among these the one that the
    /// fewest names have at all.
    fn free_beside(&self, name: &str, figures: &[Vec<&str>]) -> usize {
        let beside = |other: &str| figures.iter().any(|f| f.contains(&name) && f.contains(&other));
        let cost = |hue: &usize| {
            let same = self.names.iter().filter(|(_, taken)| taken == hue);
            (same.clone().filter(|(other, _)| beside(other)).count(), same.count())
        };
        (0..Colour::COUNT).min_by_key(cost).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_hue_and_differs_from_those_beside_it() {
        let figures = [vec!["a", "b"], vec!["c", "b"], vec!["d", "a", "e"]];
        let hues = Hues::of(&figures);
        // Each takes the first free hue.
        let colours = ["a", "b", "c", "d", "e"].map(|name| hues.colour(name));
        assert_eq!(colours, [0, 1, 2, 3, 4].map(Colour::Hue));
        assert_eq!(hues.colour("nobody"), Colour::Muted);
    }

    /// Ten names, seven hues, no two of them in one figure alike.
    #[test]
    fn names_that_never_meet_share_hues() {
        let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let figures = [names[..6].to_vec(), names[4..].to_vec()];
        let hues = Hues::of(&figures);
        for figure in &figures {
            for (at, name) in figure.iter().enumerate() {
                let before = figure[..at].iter().map(|other| hues.colour(other));
                assert!(before.into_iter().all(|other| other != hues.colour(name)), "{name}");
            }
        }
    }
}
