//! Pages without a server.

use std::process::Command;

use super::client::{DOMAIN, problem};

fn view(arguments: &[&str], folder: &std::path::Path) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .arg("view")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

#[test]
fn plans_searches_and_logs_become_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("domain.pddl", DOMAIN);
    write("p.pddl", &problem(1));
    write("plan.txt", "(grasp b0 r g)\n(move r s)\n(release b0 s g)\n");
    write("wrong.txt", "(move s r)\n");
    write("none.txt", "there is no plan\n");
    let line = |step: u64| {
        format!(
            "{{\"H\":1.0,\"goals\":{step},\"h\":1.0,\"h_discounted\":1.0,\"loss\":0.5,\"resets\":0,\"step\":{step},\"stored\":1,\"target\":0.0,\"value\":0.0}}\n"
        )
    };
    write("log.jsonl", &(1..=3).map(line).collect::<String>());
    write("empty.jsonl", "{}\n");
    for (files, wanted) in [
        (&["p.pddl", "plan.txt"][..], "\"valid\":true"),
        (&["domain.pddl", "p.pddl", "wrong.txt"], "\"valid\":false"),
        (&["domain.pddl", "p.pddl"], "\"races\":[{"),
        (&["log.jsonl"], "[3,3,0.5]"),
    ] {
        let (well, said) = view(files, folder.path());
        assert!(well, "{files:?}: {said}");
        let page = std::fs::read_to_string(folder.path().join("view.html")).expect("a page");
        assert!(page.contains(wanted), "{files:?}");
        assert!(page.ends_with("</html>\n"));
    }
    for (files, wanted) in [
        (&["plan.txt"][..], "needs its problem"),
        (&["p.pddl", "none.txt"], "line 1"),
        (&["empty.jsonl"], "homing report"),
        (&["missing.pddl"], "no such file"),
    ] {
        let (well, said) = view(files, folder.path());
        assert!(!well && said.contains(wanted), "{files:?}: {said}");
    }
}
