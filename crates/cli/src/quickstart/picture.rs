//! The training curve in a terminal: goals reached in each stretch of steps, as columns.

use std::path::PathBuf;

use homing::train::read_log;
use homing_lab::record::CurvePoint;
use homing_lab::report::integer;

use super::Paint;
use crate::output::print;

const COLUMNS: usize = 50;
const ROWS: usize = 6;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) struct Picture {
    log: PathBuf,
    steps: u64,
    live: bool,
    paint: Paint,
    shown: bool,
    /// Lines of the log read so far: it only grows.
    read: usize,
    /// Goals up to the end of each stretch.
    ends: Vec<u64>,
    last: CurvePoint,
}

impl Picture {
    pub(super) fn new(log: PathBuf, steps: u64, live: bool, paint: Paint) -> Self {
        Self {
            log,
            steps,
            live,
            paint,
            shown: false,
            read: 0,
            ends: vec![0; COLUMNS],
            last: CurvePoint::default(),
        }
    }

    /// How many steps a column stands for.
    pub(super) fn steps_of_a_column(steps: u64) -> u64 {
        steps.div_ceil(COLUMNS as u64)
    }

    fn stretch(&self, step: u64) -> usize {
        let at = (step.saturating_sub(1) as u128 * COLUMNS as u128 / u128::from(self.steps.max(1)))
            as usize;
        at.min(COLUMNS - 1)
    }

    fn point(&mut self, point: CurvePoint) {
        let at = self.stretch(point.step);
        self.ends[at] = point.goals;
        self.last = point;
    }

    /// Reads on in the log and draws; nothing without a terminal.
    pub(super) fn show(&mut self) -> anyhow::Result<()> {
        if !self.live {
            return Ok(());
        }
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole <= self.read {
            return Ok(());
        }
        for line in read_log(&text[self.read..whole]) {
            self.point(CurvePoint {
                step: line.step,
                goals: line.goals,
            });
        }
        self.read = whole;
        self.draw()
    }

    /// The whole of it.
    pub(super) fn finish(&mut self, curve: &[CurvePoint]) -> anyhow::Result<()> {
        for &point in curve {
            self.point(point);
        }
        self.draw()
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        let done = self.stretch(self.last.step.max(1)) + 1;
        let mut before = 0;
        let mut heights = vec![0; COLUMNS];
        for (height, &end) in heights.iter_mut().zip(&self.ends).take(done) {
            // A stretch of which the log says nothing yet has no goals.
            *height = end.saturating_sub(before);
            before = before.max(end);
        }
        let most = heights.iter().copied().max().unwrap_or(0).max(1);
        let mut text = String::new();
        if std::mem::replace(&mut self.shown, true) {
            // Over the last one.
            text.push_str(&format!("\x1b[{}A", ROWS + 1));
        }
        for row in (0..ROWS).rev() {
            let label = match row {
                row if row == ROWS - 1 => most.to_string(),
                0 => "0".to_owned(),
                _ => String::new(),
            };
            let bars: String = heights
                .iter()
                .map(|&goals| {
                    let eighths = (goals * 8 * ROWS as u64).div_ceil(most);
                    EIGHTHS[eighths.saturating_sub(8 * row as u64).min(8) as usize]
                })
                .collect();
            text.push_str(&format!("{label:>5} ┤{}\n", self.paint.green(&bars)));
        }
        let CurvePoint { step, goals } = self.last;
        let axis = format!(
            "step {} of {}, {} goals",
            integer(step),
            integer(self.steps),
            integer(goals)
        );
        text.push_str(&format!("      └ {axis:<COLUMNS$}\n"));
        print(&text)
    }
}
