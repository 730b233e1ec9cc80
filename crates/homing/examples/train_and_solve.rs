//! Trains a heuristic on small warehouses, then solves a larger one with it.

#![allow(clippy::print_stdout)]

use std::path::Path;

use homing::{ProblemSource, SolveRequest, TrainEnd, TrainRequest, solve, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let warehouse = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/warehouse");
    let domain = warehouse.join("domain.pddl");
    let folder = tempfile::tempdir()?;
    let model = folder.path().join("warehouse.safetensors");

    let small = vec![domain.clone(), warehouse.join("small")];
    let request = TrainRequest::new(small, &model);
    let TrainEnd::Trained(_) = train(&request, &())? else {
        return Err("nobody stops it".into());
    };

    let large = warehouse.join("large/4-12-6-s1.pddl");
    let mut request = SolveRequest::new(ProblemSource::files(&domain, large));
    request.search.model = Some(model);
    request.limits.max_evaluations = Some(10_000);
    let record = solve(&request, &())?;
    // Every plan has been replayed from the actions of the domain.
    for action in record.plan.as_deref().unwrap_or_default() {
        println!("{action}");
    }
    println!("{:?}, {} evaluations", record.outcome, record.evaluations);
    Ok(())
}
