//! Files that are not there, not files, not the right ones, or cannot be written.

use std::path::Path;

use crate::runs::{entries, fixture, run};

#[test]
fn a_missing_file_is_named() {
    let (domain, problem) = (
        fixture("valid/lamp/domain.pddl"),
        fixture("valid/lamp/p01.pddl"),
    );
    for command in ["solve", "check"] {
        run![command, "nope.pddl"]
            .ends_with(33)
            .says("homing: cannot read nope.pddl: there is no such file or folder");
        run![command, domain, "nope.pddl"]
            .ends_with(33)
            .says("homing: cannot read nope.pddl: there is no such file or folder");
        run![command, "nope.pddl", problem]
            .ends_with(33)
            .says("homing: cannot read nope.pddl: there is no such file or folder");
        run![command, domain, problem.join("below")]
            .ends_with(33)
            .says("part of the path is a file, not a folder");
    }
}

#[test]
fn a_folder_is_no_file() {
    let folder = fixture("valid/lamp");
    for command in ["solve", "check"] {
        run![command, folder]
            .ends_with(33)
            .says("lamp is a folder, where a file is expected");
        run![command, fixture("valid/lamp/domain.pddl"), folder]
            .ends_with(33)
            .says("lamp is a folder, where a file is expected");
    }
}

#[test]
fn swapped_arguments_are_noticed() {
    let (domain, problem) = (
        fixture("valid/lamp/domain.pddl"),
        fixture("valid/lamp/p01.pddl"),
    );
    for command in ["solve", "check"] {
        run![command, problem, domain]
            .ends_with(33)
            .says("the files are swapped")
            .says("the domain comes first");
    }
}

#[test]
fn the_same_file_twice() {
    let problem = fixture("valid/lamp/p01.pddl");
    run!["solve", problem, problem]
        .ends_with(31)
        .says("holds a problem, where a domain is expected");
    run!["solve", fixture("valid/lamp/domain.pddl")]
        .ends_with(31)
        .says("holds a domain, where a problem is expected");
}

#[test]
fn a_binary_file_is_no_pddl() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("binary.pddl");
    let bytes: Vec<u8> = (0..4000u32).map(|i| (i * i % 251) as u8).collect();
    std::fs::write(&binary, bytes).expect("a file");
    run!["solve", fixture("valid/lamp/domain.pddl"), binary]
        .ends_with(31)
        .says("binary.pddl:1:1");
    run!["check", binary].ends_with(31).says("binary.pddl:1:1");
}

#[test]
fn an_empty_file_is_no_pddl() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.pddl");
    std::fs::write(&empty, "").expect("a file");
    run!["solve", fixture("valid/lamp/domain.pddl"), empty].ends_with(31);
}

#[test]
fn a_plan_file_that_cannot_be_written_is_known_before_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").expect("a file");
    let missing = folder.path().join("missing");
    for (plan, reason) in [
        (
            missing.join("plan"),
            format!("there is no folder {}", missing.display()),
        ),
        (
            file.join("plan"),
            "part of the path is a file, not a folder".to_owned(),
        ),
        (folder.path().to_owned(), "it is a folder".to_owned()),
        (
            folder.path().join("x".repeat(5000)),
            "the name is too long or not allowed".to_owned(),
        ),
    ] {
        let run = run!["solve", "--plan-file", plan, fixture("valid/lamp/p01.pddl")]
            .ends_with(33)
            .says(&format!(
                "homing: cannot write the plan to {}: {reason}",
                plan.display()
            ));
        assert_eq!(run.stdout, "");
    }
    assert_eq!(entries(folder.path()), ["file"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "kept");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_where_nothing_can_be_written() {
    // Even for root.
    run![
        "solve",
        "--plan-file",
        "/proc/plan",
        fixture("valid/lamp/p01.pddl")
    ]
    .ends_with(33)
    .says("homing: cannot write the plan to /proc/plan: ");
}

/// The steps are not lost: what cannot be written to the file is shown.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_plan_and_shows_the_new_one() {
    use crate::runs::{Run, homing};

    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    std::fs::write(&plan, "old").expect("a file");
    // A limit of no bytes a file fails in the same place as a full disk.
    let limited = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(homing().get_program())
        .args(["solve".as_ref(), "--plan-file".as_ref(), plan.as_os_str()])
        .arg(fixture("valid/lamp/p01.pddl"))
        .output();
    let run = Run::from(limited.expect("a shell"))
        .ends_with(33)
        .says(&format!(
            "homing: cannot write the plan to {}: files may not be that large here",
            plan.display()
        ));
    assert!(run.stdout.contains("(screw-in)\n(press)\n"), "{run:#?}");
    assert_eq!(std::fs::read_to_string(&plan).expect("a file"), "old");
    assert_eq!(entries(folder.path()), ["plan"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;

    let is_device =
        |path: &str| std::fs::metadata(path).is_ok_and(|file| file.file_type().is_char_device());
    let problem = fixture("valid/lamp/p01.pddl");
    if is_device("/dev/null") {
        let run = run!["solve", "--plan-file", "/dev/null", problem].ends_with(0);
        assert!(!run.stdout.contains("(press)"), "{run:#?}");
        assert!(is_device("/dev/null"));
    }
    if is_device("/dev/full") {
        let run = run!["solve", "--plan-file", "/dev/full", problem]
            .ends_with(33)
            .says("homing: cannot write the plan to /dev/full: the disk is full");
        assert!(run.stdout.contains("(press)"), "{run:#?}");
        assert!(is_device("/dev/full"));
    }
    assert!(!Path::new("/dev/.homing-plan-").exists());
}
