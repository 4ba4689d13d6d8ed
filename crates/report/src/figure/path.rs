//! Path data, small: whole numbers on a fixed grid, each relative to the last.
//!
//! The script of the page reads these paths back to find the point under the pointer. So the
//! grammar is narrow on purpose: one absolute `M`, then only `m`, `l`, `h`, `v` with whole numbers.

use std::fmt::Write;

/// Steps of the grid along each side of a plot: at a zoom of 100 one step is a tenth of a pixel.
pub(crate) const GRID: f64 = 100_000.0;

/// Writes one `d` attribute.
#[derive(Default)]
pub(crate) struct PathData {
    d: String,
    at: (i64, i64),
}

impl PathData {
    /// Lifts the pen and sets it down at these fractions of the plot, from left and from bottom.
    pub(crate) fn move_to(&mut self, x: f64, y: f64) {
        let to = on_grid(x, y);
        let (command, dx, dy) = match self.d.is_empty() {
            true => ('M', to.0, to.1),
            false => ('m', to.0 - self.at.0, to.1 - self.at.1),
        };
        self.push_pair(command, dx, dy);
        self.at = to;
    }

    /// Draws a straight line.
    pub(crate) fn line_to(&mut self, x: f64, y: f64) {
        let to = on_grid(x, y);
        match (to.0 - self.at.0, to.1 - self.at.1) {
            (0, 0) => {}
            (dx, 0) => self.push('h', dx),
            (0, dy) => self.push('v', dy),
            (dx, dy) => self.push_pair('l', dx, dy),
        }
        self.at = to;
    }

    /// Draws a line of no length, which round and square line caps show as a dot.
    pub(crate) fn draw_dot(&mut self, x: f64, y: f64) {
        self.move_to(x, y);
        self.push('h', 0);
    }

    /// The attribute's value.
    pub(crate) fn finish(self) -> String {
        self.d
    }

    fn push(&mut self, command: char, delta: i64) {
        let _ = write!(self.d, "{command}{delta}");
    }

    fn push_pair(&mut self, command: char, dx: i64, dy: i64) {
        // A minus sign separates as well as a space.
        let gap = if dy < 0 { "" } else { " " };
        let _ = write!(self.d, "{command}{dx}{gap}{dy}");
    }
}

/// SVG counts from the top.
fn on_grid(x: f64, y: f64) -> (i64, i64) {
    ((x * GRID).round() as i64, ((1.0 - y) * GRID).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_relative_and_rounding_does_not_add_up() {
        let mut path = PathData::default();
        path.move_to(0.0, 1.0);
        path.line_to(0.5, 1.0);
        path.line_to(0.5, 0.5);
        path.line_to(0.25, 0.75);
        path.draw_dot(0.1, 0.1);
        assert_eq!(path.finish(), "M0 0h50000v50000l-25000-25000m-15000 65000h0");
        // A third of the grid, three times: 33333.3, 66666.7, 100000 round to steps that sum to it.
        let mut thirds = PathData::default();
        thirds.move_to(0.0, 0.0);
        (1..=3).for_each(|i| thirds.line_to(f64::from(i) / 3.0, 0.0));
        assert_eq!(thirds.finish(), "M0 100000h33333h33334h33333");
    }
}
