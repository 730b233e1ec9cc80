//! CPU milliseconds of the fixed workloads, twins on.
#![allow(clippy::print_stdout)]

#[path = "../benches/workload/mod.rs"]
mod workload;

use homing_nlm::{Adam, Quantifiers, Simd, Structure, Workspace};
use workload::{blocks, least_cpu_seconds, states};

fn main() {
    let simd = Simd::from_env().expect("a supported level");
    for (layers, quantifiers) in [
        (6, Quantifiers::Exists),
        (5, Quantifiers::ExistsForall),
        (4, Quantifiers::Exists),
    ] {
        println!("L = {layers}, {quantifiers:?}, {simd}");
        let nlm = blocks(layers, quantifiers);
        let mut parameters = nlm.init(1);
        let mut adam = Adam::new(parameters.len());
        let mut gradient = vec![0.0; parameters.len()];
        let mut workspace = Workspace::default();
        for objects in [6, 12] {
            let all = states(objects, 250, 5);
            let batch: Vec<&Structure> = all.iter().collect();
            let train = least_cpu_seconds(0.3, || {
                let prepared = nlm.prepare(&parameters, simd);
                prepared
                    .backward(&batch[..25], &mut workspace, |_, v| v - 1.0, &mut gradient)
                    .unwrap();
                adam.step(&mut parameters, &gradient);
            });
            let prepared = nlm.prepare(&parameters, simd);
            let forward = least_cpu_seconds(0.3, || {
                prepared.evaluate(&batch, &mut workspace).unwrap();
            });
            println!(
                "O = {objects:3}: step of 25 {:8.3} ms, forward of 250 {:8.3} ms",
                train * 1e3,
                forward * 1e3
            );
        }
        let prepared = nlm.prepare(&parameters, simd);
        for objects in [20, 50] {
            let all = states(objects, 1, 5);
            let one = least_cpu_seconds(0.3, || {
                prepared.evaluate(&[&all[0]], &mut workspace).unwrap();
            });
            println!("O = {objects:3}: forward of 1 {:8.3} ms", one * 1e3);
        }
    }
}
