//! The competition's domains, from a folder beside the repository.

use std::path::{Path, PathBuf};

use crate::runs::{entries, root, run_with};
use crate::training::folder;

/// The smallest problem, and the next one if it is small: the work of a network grows with the
/// cube of the objects.
fn small(folder: &Path) -> Vec<PathBuf> {
    let mut problems: Vec<(u64, PathBuf)> = entries(folder)
        .into_iter()
        .filter(|name| name.ends_with(".pddl") && !name.starts_with("domain"))
        .map(|name| {
            let path = folder.join(name);
            (std::fs::metadata(&path).expect("a file").len(), path)
        })
        .collect();
    problems.sort();
    let problems = problems.into_iter().take(2).enumerate();
    problems
        .filter(|(index, (size, _))| *index == 0 || *size < 2500)
        .map(|(_, (_, path))| path)
        .collect()
}

#[test]
fn every_domain_of_the_competition_can_be_trained_on() {
    let benchmarks = root().join("../shared/benchmarks");
    if !benchmarks.is_dir() {
        println!("skipped: there is no `shared/benchmarks` beside the repository");
        return;
    }
    let out = folder();
    let domains = entries(&benchmarks);
    assert!(domains.len() >= 20);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(name) =
                    domains.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let begun = std::time::Instant::now();
                    let folder = benchmarks.join(name);
                    let model = out.path().join(format!("{name}.safetensors"));
                    let mut arguments: Vec<std::ffi::OsString> = vec!["train".into()];
                    // Costs as the problems give them; a network as small as can be.
                    let flags = "--learner nlm --steps 200 --jobs 1 --unit-cost false --features 1 \
                                 --batch-size 2 --warm-up 170 --heuristic add --out";
                    arguments.extend(flags.split_whitespace().map(std::ffi::OsString::from));
                    arguments.push(model.clone().into());
                    // The least, which its predicate of four arguments raises by one.
                    if !name.starts_with("scanalyzer") {
                        arguments.extend(["--layers".into(), "4".into()]);
                    }
                    arguments.push(folder.join("domain.pddl").into());
                    arguments.extend(small(&folder).into_iter().map(Into::into));
                    let run = run_with(arguments).ends_with(0);
                    assert!(run.stdout.contains("200 steps"), "{name}: {run:#?}");
                    assert!(model.exists());
                    println!(
                        "{name}: {:.1} s {}",
                        begun.elapsed().as_secs_f64(),
                        run.stderr
                    );
                }
            });
        }
    });
}
