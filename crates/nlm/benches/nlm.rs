//! `cargo bench -p homing-nlm`: criterion's wall times of each workload, then one
//! table of CPU milliseconds (least of several samples), GFLOP/s of the naive count
//! and the fraction of this core's measured peak.
//!
//! `HOMING_SIMD` chooses the instructions; `-- --table` prints the table alone.
#![allow(clippy::print_stdout)]

mod workload;

use criterion::Criterion;
use homing_nlm::{Adam, Nlm, NlmConfig, Quantifiers, Simd, Structure, Workspace};
use std::time::Duration;
use workload::{blocks, least_cpu_seconds, naive_flops, peak_flops, states, successors};

#[derive(Clone, Copy)]
enum Work {
    /// Forward, backward, Adam and the preparation of the new weights.
    Train,
    /// What a step of training does: new weights are prepared, the values of `count` states are
    /// computed with them, then the gradient over the first tenth of these states, and Adam.
    Step,
    Forward,
    /// Forward, the successors of one state.
    Successors,
}

struct Row {
    layers: usize,
    quantifiers: Quantifiers,
    distinct: bool,
    work: Work,
    count: usize,
    objects: usize,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut push = |layers, quantifiers, distinct, work, count, objects| {
        rows.push(Row {
            layers,
            quantifiers,
            distinct,
            work,
            count,
            objects,
        });
    };
    for quantifiers in [Quantifiers::Exists, Quantifiers::ExistsForall] {
        for layers in [6, 5] {
            for objects in [6, 12] {
                push(layers, quantifiers, false, Work::Train, 25, objects);
                push(layers, quantifiers, false, Work::Forward, 250, objects);
                push(layers, quantifiers, false, Work::Step, 250, objects);
            }
            for objects in [20, 50] {
                push(layers, quantifiers, false, Work::Forward, 1, objects);
                push(layers, quantifiers, false, Work::Successors, 32, objects);
            }
        }
        for objects in [20, 50, 100, 250] {
            push(4, quantifiers, false, Work::Forward, 1, objects);
        }
    }
    // What training and search use.
    let reference = Quantifiers::ExistsForall;
    for objects in [6, 12] {
        push(5, reference, true, Work::Train, 25, objects);
        push(5, reference, true, Work::Forward, 250, objects);
        push(5, reference, true, Work::Step, 250, objects);
    }
    for objects in [20, 50] {
        push(5, reference, true, Work::Successors, 32, objects);
    }
    rows
}

impl Row {
    fn name(&self) -> String {
        let work = match self.work {
            Work::Train => "forward + backward + Adam",
            Work::Step => "training step, 25 gradients",
            Work::Forward => "forward",
            Work::Successors => "forward, successors of one state",
        };
        let distinct = if self.distinct { ", distinct" } else { "" };
        let quantifiers = match self.quantifiers {
            Quantifiers::Exists => "max",
            Quantifiers::ExistsForall => "max and min",
        };
        format!(
            "L = {}, {quantifiers}{distinct}: {work}, {} states, {} objects",
            self.layers, self.count, self.objects
        )
    }

    fn flops(&self, nlm: &Nlm) -> f64 {
        // Backward is two products for each of the forward pass.
        let passes = match self.work {
            Work::Train => 3.0,
            Work::Step => 1.3,
            Work::Forward | Work::Successors => 1.0,
        };
        passes * self.count as f64 * naive_flops(nlm, self.objects)
    }

    /// Calls `measure` with the work as a closure.
    fn with<R>(&self, simd: Simd, measure: impl FnOnce(&Nlm, &mut dyn FnMut()) -> R) -> R {
        let nlm = Nlm::new(NlmConfig {
            distinct: self.distinct,
            ..blocks(self.layers, self.quantifiers).config().clone()
        })
        .expect("a valid configuration");
        let all = match self.work {
            Work::Successors => successors(self.objects, self.count, 5),
            _ => states(self.objects, self.count, 5),
        };
        let batch: Vec<&Structure> = all.iter().collect();
        let mut workspace = Workspace::default();
        let mut parameters = nlm.init(1);
        match self.work {
            Work::Forward | Work::Successors => {
                let prepared = nlm.prepare(&parameters, simd);
                let mut work = || {
                    prepared.evaluate(&batch, &mut workspace).expect("it fits");
                };
                measure(&nlm, &mut work)
            }
            Work::Train | Work::Step => {
                let step = matches!(self.work, Work::Step);
                let learned = if step { batch.len() / 10 } else { batch.len() };
                let mut adam = Adam::new(parameters.len());
                let mut gradient = vec![0.0; parameters.len()];
                let mut work = || {
                    let prepared = nlm.prepare(&parameters, simd);
                    if step {
                        prepared.evaluate(&batch, &mut workspace).expect("it fits");
                    }
                    let batch = &batch[..learned];
                    prepared
                        .backward(batch, &mut workspace, |_, v| v - 1.0, &mut gradient)
                        .expect("it fits");
                    adam.step(&mut parameters, &gradient);
                };
                measure(&nlm, &mut work)
            }
        }
    }
}

fn table(simd: Simd) {
    let peak = peak_flops(simd);
    println!("\n{simd}, measured peak {:.1} GFLOP/s\n", peak * 1e-9);
    println!("| work | CPU ms | naive GFLOP/s | of peak |");
    println!("|---|---|---|---|");
    for row in rows() {
        row.with(simd, |nlm, work| {
            let seconds = least_cpu_seconds(0.5, work);
            let rate = row.flops(nlm) / seconds;
            println!(
                "| {} | {:.3} | {:.1} | {:.2} |",
                row.name(),
                seconds * 1e3,
                rate * 1e-9,
                rate / peak
            );
        });
    }
}

fn main() {
    let named = std::env::var("HOMING_SIMD").ok();
    let simd = Simd::named_or_best(named.as_deref()).unwrap_or_else(|error| panic!("{error}"));
    if !std::env::args().any(|a| a == "--table") {
        let mut criterion = Criterion::default()
            .sample_size(10)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(600))
            .configure_from_args();
        for row in rows() {
            row.with(simd, |_, work| {
                criterion.bench_function(&row.name(), |b| b.iter(&mut *work));
            });
        }
        criterion.final_summary();
    }
    table(simd);
}
