//! Visitall: a square grid without some cells; the robot starts on any cell that is left, and each
//! cell is a goal with the given probability, the robot's own in any case.
//!
//! As in the field's generator, the cell of index n(n+1)/2 (row by row) is never removed, and the
//! probability is rounded up to a multiple of 1/n². Where some goal is out of the robot's reach
//! everything is drawn again: that is the field's distribution given that the problem is
//! solvable. (Of 3 x 3 grids with all cells as goals one in two is lost so, of 8 x 8 grids one in
//! ten.)
//!
//! Solvable: all goals lie in the robot's part of the grid and every move can be undone.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};
use crate::random::Random;

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Cells on a side n.
    pub size: usize,
    /// Probability of a cell to be a goal.
    pub ratio: f64,
    /// Cells that are not there; n in the paper.
    pub removed: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        let ratio = format!("{:?}", self.ratio).replace('.', "");
        if self.removed == self.size {
            format!("{}-{ratio}", self.size)
        } else {
            format!("{}-{ratio}-u{}", self.size, self.removed)
        }
    }
}

/// After so many grids with a goal out of reach we give up.
const ATTEMPTS: usize = 1000;

/// A grid of this many cells on a side has 62,000 connections.
const LARGEST: usize = 125;

struct Grid {
    size: usize,
    free: Vec<bool>,
    robot: usize,
    goals: Vec<bool>,
}

impl Grid {
    fn random(parameters: Parameters, random: &mut Random) -> Self {
        let size = parameters.size;
        let cells = size * size;
        let kept = size * (size + 1) / 2;
        let mut free = vec![true; cells];
        for hole in random.distinct(parameters.removed, cells - 1) {
            free[hole + usize::from(hole >= kept)] = false;
        }
        let open: Vec<usize> = (0..cells).filter(|&cell| free[cell]).collect();
        let robot = open[random.below(open.len())];
        let mut goals = vec![false; cells];
        for cell in open {
            let chosen = (random.below(cells) as f64) < parameters.ratio * cells as f64;
            goals[cell] = chosen || cell == robot;
        }
        Self {
            size,
            free,
            robot,
            goals,
        }
    }

    /// The free cells beside a cell: up, down, left, right.
    fn neighbours(&self, cell: usize) -> impl Iterator<Item = usize> {
        let (row, column, size) = (cell / self.size, cell % self.size, self.size);
        [
            (row > 0).then(|| cell - size),
            (row + 1 < size).then(|| cell + size),
            (column > 0).then(|| cell - 1),
            (column + 1 < size).then(|| cell + 1),
        ]
        .into_iter()
        .flatten()
        .filter(|&other| self.free[other])
    }

    fn every_goal_is_in_reach(&self) -> bool {
        let mut reached = vec![false; self.free.len()];
        reached[self.robot] = true;
        let mut open = vec![self.robot];
        while let Some(cell) = open.pop() {
            for other in self.neighbours(cell) {
                if !std::mem::replace(&mut reached[other], true) {
                    open.push(other);
                }
            }
        }
        self.goals
            .iter()
            .zip(&reached)
            .all(|(&goal, &reached)| reached || !goal)
    }
}

/// Draws a problem.
///
/// # Errors
///
/// If fewer than two cells remain, the ratio is no probability above 0, or grids with such
/// parameters fall apart.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let Parameters {
        size,
        ratio,
        removed,
    } = *parameters;
    check("cells on a side", size, 2)?;
    if size > LARGEST {
        return Err(ParameterError::OutOfRange {
            name: "cells on a side",
            given: size,
            least: 2,
            most: LARGEST,
        });
    }
    if removed + 2 > size * size {
        return Err(ParameterError::EmptyGrid { size, removed });
    }
    if !(ratio > 0.0 && ratio <= 1.0) {
        return Err(ParameterError::BadRatio { ratio });
    }
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let grid = (0..ATTEMPTS)
        .map(|_| Grid::random(*parameters, &mut random))
        .find(Grid::every_goal_is_in_reach)
        .ok_or(ParameterError::NothingConnected {
            size,
            removed,
            attempts: ATTEMPTS,
        })?;
    let mut builder = all.builder();
    let cells: Vec<_> = (0..size * size)
        .map(|cell| {
            grid.free[cell].then(|| {
                let name = format!("loc-x{}-y{}", cell / size, cell % size);
                builder.object(name, "place")
            })
        })
        .collect();
    let place = |cell: usize| cells[cell].expect("a free cell has an object");
    builder.fact("at-robot", &[place(grid.robot)]);
    builder.fact("visited", &[place(grid.robot)]);
    for cell in (0..size * size).filter(|&cell| grid.free[cell]) {
        for other in grid.neighbours(cell) {
            builder.fact("connected", &[place(cell), place(other)]);
        }
    }
    for cell in (0..size * size).filter(|&cell| grid.goals[cell]) {
        builder.goal("visited", &[place(cell)]);
    }
    Ok(builder.finish(all.problem_name(seed)))
}
