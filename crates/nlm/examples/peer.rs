//! Our half of `dev/peers/nlm`: writes a network, its inputs and its values to a folder
//! for the peers to read, and times the same work.
//!
//! `peer <folder> <layers> <exists|exists-forall>` writes `network.json` and
//! `weights.f32`, and prints one JSON object a measurement.
#![allow(clippy::print_stdout)]

#[path = "../benches/workload/mod.rs"]
mod workload;

use homing_nlm::{Adam, Quantifiers, Simd, Structure, Workspace};
use std::fmt::Write as _;
use std::path::PathBuf;
use workload::{blocks, least_cpu_seconds, states, successors};

/// `[[channel, x, ...], ...]` for each arity.
fn facts(s: &Structure) -> String {
    let arities: Vec<String> = (0..3)
        .map(|arity| {
            let rows: Vec<String> = s
                .propositions(arity)
                .map(|(channel, x)| {
                    let mut row = format!("[{channel}");
                    for object in x {
                        write!(row, ",{object}").expect("a string takes all");
                    }
                    row + "]"
                })
                .collect();
            format!("[{}]", rows.join(","))
        })
        .collect();
    format!("[{}]", arities.join(","))
}

/// Work, objects, structures.
const CASES: [(&str, usize, usize); 6] = [
    ("forward", 6, 250),
    ("forward", 12, 250),
    ("forward", 20, 1),
    ("forward", 50, 1),
    ("successors", 20, 32),
    ("successors", 50, 32),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: peer <folder> <layers> <exists|exists-forall>";
    let folder = PathBuf::from(args.next().ok_or(usage)?);
    let layers: usize = args.next().ok_or(usage)?.parse()?;
    let quantifiers = match args.next().ok_or(usage)?.as_str() {
        "exists" => Quantifiers::Exists,
        "exists-forall" => Quantifiers::ExistsForall,
        _ => return Err(usage.into()),
    };
    let simd = Simd::named_or_best(std::env::var("HOMING_SIMD").ok().as_deref())?;
    let nlm = blocks(layers, quantifiers);
    let parameters = nlm.init(1);
    let prepared = nlm.prepare(&parameters, simd);
    let mut workspace = Workspace::default();

    let mut cases = Vec::new();
    for (work, objects, count) in CASES {
        let all = if work == "successors" {
            successors(objects, count, 5)
        } else {
            states(objects, count, 5)
        };
        let batch: Vec<&Structure> = all.iter().collect();
        let values = prepared.evaluate(&batch, &mut workspace)?;
        let all_facts: Vec<String> = all.iter().map(facts).collect();
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        cases.push(format!(
            "{{\"work\":\"{work}\",\"objects\":{objects},\"states\":[{}],\"values\":[{}]}}",
            all_facts.join(","),
            values.join(",")
        ));
    }
    std::fs::create_dir_all(&folder)?;
    let network = format!(
        "{{\"input_channels\":[2,6,2],\"max_arity\":3,\"layers\":{layers},\"features\":8,\
         \"quantifiers\":{},\"parameters\":{},\"cases\":[{}]}}\n",
        quantifiers.count(),
        parameters.len(),
        cases.join(",")
    );
    std::fs::write(folder.join("network.json"), network)?;
    let bytes: Vec<u8> = parameters.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(folder.join("weights.f32"), bytes)?;

    let mut weights = parameters.clone();
    let mut adam = Adam::new(weights.len());
    let mut gradient = vec![0.0; weights.len()];
    for objects in [6, 12] {
        let all = states(objects, 250, 5);
        let batch: Vec<&Structure> = all.iter().collect();
        // Gradients alone, and a step of training: first values of all states with these weights.
        for (work, values) in [("train", false), ("step", true)] {
            let seconds = least_cpu_seconds(1.0, || {
                let prepared = nlm.prepare(&weights, simd);
                if values {
                    prepared
                        .evaluate(&batch, &mut workspace)
                        .expect("the batch fits");
                }
                prepared
                    .backward(
                        &batch[..25],
                        &mut workspace,
                        |_, v| (v - 1.0) / 25.0,
                        &mut gradient,
                    )
                    .expect("the batch fits");
                adam.step(&mut weights, &gradient);
            });
            println!("{{\"work\":\"{work}\",\"objects\":{objects},\"seconds\":{seconds}}}");
        }
        let forward = least_cpu_seconds(1.0, || {
            prepared
                .evaluate(&batch, &mut workspace)
                .expect("the batch fits");
        });
        println!("{{\"work\":\"forward\",\"objects\":{objects},\"seconds\":{forward}}}");
    }
    for objects in [20, 50] {
        for (work, all) in [
            ("forward", states(objects, 1, 5)),
            ("successors", successors(objects, 32, 5)),
        ] {
            let batch: Vec<&Structure> = all.iter().collect();
            let forward = least_cpu_seconds(1.0, || {
                prepared
                    .evaluate(&batch, &mut workspace)
                    .expect("the batch fits");
            });
            println!("{{\"work\":\"{work}\",\"objects\":{objects},\"seconds\":{forward}}}");
        }
    }
    Ok(())
}
