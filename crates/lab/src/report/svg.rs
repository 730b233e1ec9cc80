//! Axes and marks of figures, as SVG inside the page.
//!
//! Colours come from the page's style sheet by class (`k-ff`), so that figures follow light, dark
//! and print.

use super::heuristics::shape;
use super::text::html;

pub(super) const WIDTH: f64 = 340.0;
pub(super) const HEIGHT: f64 = 300.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 42.0;

/// A range of values along an axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
    /// No tick stands beyond this.
    pub(super) last: f64,
}

impl Axis {
    pub(super) fn linear(from: f64, to: f64) -> Self {
        Self {
            from,
            to,
            log: false,
            last: to,
        }
    }

    /// Where a value is, from 0 to 1.
    fn share(self, value: f64) -> f64 {
        let (value, from, to) = if self.log {
            (value.max(1e-9).ln(), self.from.ln(), self.to.ln())
        } else {
            (value, self.from, self.to)
        };
        ((value - from) / (to - from)).clamp(0.0, 1.0)
    }

    pub(super) fn x(self, value: f64) -> f64 {
        LEFT + self.share(value) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn y(self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.share(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// Round values along the axis.
    pub(super) fn ticks(self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.log {
            let mut tick = 10_f64.powf(self.from.log10().ceil());
            while tick <= self.last {
                ticks.push(tick);
                tick *= 10.0;
            }
        } else {
            let rough = (self.to - self.from) / 5.0;
            let power = 10_f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0]
                .into_iter()
                .map(|factor| factor * power)
                .find(|step| *step >= rough * 0.999)
                .unwrap_or(rough);
            let mut tick = (self.from / step).ceil() * step;
            while tick <= self.last + step * 1e-9 {
                ticks.push(tick);
                tick += step;
            }
        }
        ticks
    }
}

/// 100, 1k, 10k, 1M
pub(super) fn short(value: f64) -> String {
    let (value, unit) = if value >= 999_999.5 {
        (value / 1e6, "M")
    } else if value >= 999.5 {
        (value / 1e3, "k")
    } else {
        (value, "")
    };
    format!("{}{unit}", super::text::tenths(value))
}

/// A coordinate: one digit after the point is finer than a screen.
pub(super) fn place(value: f64) -> String {
    super::text::tenths(value)
}

/// A figure in the making.
pub(super) struct Plot {
    pub(super) x: Axis,
    pub(super) y: Axis,
    body: String,
    shape_size: f64,
}

impl Plot {
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        Self {
            x,
            y,
            body: String::new(),
            shape_size: 1.0,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.body.push_str(text);
    }

    /// Grid lines, tick labels, the frame and the axes' names.
    pub(super) fn frame(
        &mut self,
        x_name: &str,
        y_name: &str,
        label_x: impl Fn(f64) -> String,
        label_y: impl Fn(f64) -> String,
    ) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut grid = String::new();
        let mut labels = String::new();
        for tick in self.x.ticks() {
            let x = place(self.x.x(tick));
            grid.push_str(&format!("M{x} {TOP}V{bottom}"));
            let y = bottom + 14.0;
            labels.push_str(&format!(
                "<text x=\"{x}\" y=\"{y}\" class=\"mid\">{}</text>",
                html(&label_x(tick))
            ));
        }
        for tick in self.y.ticks() {
            let y = self.y.y(tick);
            grid.push_str(&format!("M{LEFT} {}H{right}", place(y)));
            labels.push_str(&format!(
                "<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>",
                LEFT - 6.0,
                place(y + 3.5),
                html(&label_y(tick))
            ));
        }
        let (middle_x, middle_y) = ((LEFT + right) / 2.0, (TOP + bottom) / 2.0);
        self.body.push_str(&format!(
            "<path class=\"grid\" d=\"{grid}\"/>\
             <rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>\
             <g class=\"ticks\">{labels}</g>\
             <text class=\"axis mid\" x=\"{middle_x}\" y=\"{}\">{}</text>\
             <text class=\"axis mid\" transform=\"translate(11 {middle_y}) rotate(-90)\">{}</text>",
            right - LEFT,
            bottom - TOP,
            HEIGHT - 8.0,
            html(x_name),
            html(y_name),
        ));
    }

    /// A line through values.
    pub(super) fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let path = self.path(points.iter().copied());
        self.body
            .push_str(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// The area between a lower and an upper line: x, low, high.
    pub(super) fn band(&mut self, points: &[(f64, f64, f64)]) {
        let there = points.iter().map(|&(x, _, high)| (x, high));
        let back = points.iter().rev().map(|&(x, low, _)| (x, low));
        let path = self.path(there.chain(back));
        self.body
            .push_str(&format!("<path class=\"band\" d=\"{path}z\"/>"));
    }

    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (count, (x, y)) in points.enumerate() {
            path.push(if count == 0 { 'M' } else { 'L' });
            path.push_str(&format!("{} {}", place(self.x.x(x)), place(self.y.y(y))));
        }
        path
    }

    /// A mark of the shape of its heuristic at a value, with words that appear when pointed at.
    pub(super) fn mark(&mut self, heuristic: &str, x: f64, y: f64, words: &str) {
        let shape = shape(heuristic, self.x.x(x), self.y.y(y), self.shape_size);
        self.body.push_str(&format!(
            "<g class=\"mark\"><title>{}</title>{shape}</g>",
            html(words)
        ));
    }

    /// The figure with its heading. `words` say what is seen to those who do not see it.
    pub(super) fn figure(self, heading: &str, words: &str) -> String {
        format!(
            "<figure class=\"plot\"><figcaption>{}</figcaption>\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{}</svg></figure>",
            html(heading),
            html(words),
            self.body
        )
    }
}
