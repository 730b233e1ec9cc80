//! Ctrl-C and SIGTERM, while a problem is grounded and while it is searched.

use std::time::Duration;

use rustix::process::Signal;

use crate::measured::measure;
use crate::runs::endless_problem;
use crate::worst;

const SOON: Duration = Duration::from_millis(500);

#[test]
fn grounding_ends_at_a_signal() {
    let files = worst::deep_join();
    for signal in [Signal::INT, Signal::TERM] {
        let arguments = ["solve".as_ref(), "--json".as_ref()];
        let paths = [files.domain.as_os_str(), files.problem.as_os_str()];
        let run = measure(arguments.into_iter().chain(paths), Some((signal, SOON)))
            .ended(130, "interrupted")
            .within_seconds(0.0);
        assert_eq!(run.record()["problem"], "p", "{run:#?}");
    }
}

#[test]
fn a_search_ends_at_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = endless_problem(folder.path());
    for signal in [Signal::INT, Signal::TERM] {
        let arguments = [
            "solve",
            "--json",
            "--search",
            "gbfs",
            "--heuristic",
            "blind",
        ];
        let arguments = arguments.iter().map(AsRef::as_ref);
        let arguments = arguments.chain([problem.as_os_str()]);
        let run = measure(arguments, Some((signal, SOON)))
            .ended(130, "interrupted")
            .within_seconds(0.0);
        assert!(run.record()["expansions"].as_u64() > Some(0), "{run:#?}");
    }
}
