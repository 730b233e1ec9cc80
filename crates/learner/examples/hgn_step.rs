//! Times one training step and one evaluation of a hypergraph network, and writes the graph and the
//! weights for another program to do the same: `dev/peers/hgn_torch.py`.
//!
//!     cargo run --release -p homing-learner --example hgn_step -- DOMAIN PROBLEM OUT.json

#[path = "common/clock.rs"]
mod clock;
#[path = "common/load.rs"]
mod load;

use std::error::Error;
use std::sync::Arc;

use homing_learner::{HgnConfig, HgnProbe, Simd};

/// The least of five times, each the mean of as many calls as take a fifth of a second.
fn time(mut call: impl FnMut()) -> f64 {
    call();
    let means = (0..5).map(|_| clock::mean_over(0.2, &mut call));
    means.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [domain, problem, out] = &arguments[..] else {
        return Err("usage: hgn_step DOMAIN PROBLEM OUT.json".into());
    };
    let task = Arc::new(load::load(domain, problem));
    // A start whose output is above 0, so that gradients are.
    let mut seed = 0;
    let mut probe = loop {
        let config = HgnConfig::default();
        let mut probe = HgnProbe::new(Arc::clone(&task), &config, seed, Simd::best());
        if probe.evaluate() > 0.0 {
            break probe;
        }
        seed += 1;
    };
    let label = 10.0;
    let (loss, gradient) = probe.gradient(label);
    let norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>();
    let mut described = probe.describe();
    described["estimate"] = probe.evaluate().into();
    described["loss"] = loss.into();
    described["gradient_norm"] = norm.sqrt().into();
    described["label"] = label.into();
    let evaluation = time(|| {
        std::hint::black_box(probe.evaluate());
    });
    let step = time(|| {
        std::hint::black_box(probe.step(label));
    });
    described["evaluation_cpu_seconds"] = evaluation.into();
    described["step_cpu_seconds"] = step.into();
    std::fs::write(out, described.to_string())?;
    eprintln!(
        "{} nodes, {} edges: evaluation {:.3} ms, training step {:.3} ms of CPU",
        described["nodes"],
        described["edges"],
        evaluation * 1e3,
        step * 1e3
    );
    Ok(())
}
