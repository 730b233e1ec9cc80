//! An experiment as array jobs of a real Slurm, on one node that `dev/slurm/cluster` starts. Where
//! there is no Slurm these tests say so and pass.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use homing::experiment::AtWork;

use crate::runs::{Run, entries, homing, root};
use crate::sharing::{Place, same};

/// Three domains, two heuristics, three seeds.
const EXPERIMENT: &str = r#"
title = "cluster"
domains = ["blocks", "ferry", "gripper"]
heuristics = ["add", "ff"]
seeds = 3

[train]
problems = 4
config.steps = 150
config.layers = 4

[evaluate]
problems = 2
max_evaluations = 50
"#;

/// One node that is stopped in the end.
struct Node {
    folder: tempfile::TempDir,
}

fn script() -> PathBuf {
    root().join("dev/slurm/cluster")
}

impl Node {
    /// `None`, and a word about it, where there is no Slurm.
    fn start() -> Option<Self> {
        // Paths of sockets must be short.
        let folder = tempfile::Builder::new().prefix("sl").tempdir_in("/tmp");
        let folder = folder.expect("a folder");
        let mut command = Command::new(script());
        let started = command.arg("start").arg(folder.path()).output();
        let started = Run::from(started.expect("a script"));
        if started.code == Some(3) {
            eprintln!("skipped: {}", started.stderr.trim());
            return None;
        }
        let node = Self { folder };
        assert_eq!(started.code, Some(0), "{started:#?}");
        Some(node)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Run {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("PATH", format!("{path}:/usr/sbin"))
            .env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command.output().expect("a program").into()
    }

    #[track_caller]
    fn succeeds(&self, program: &str, arguments: &[&str]) -> String {
        self.command(program, arguments).ends_with(0).stdout
    }

    fn homing(&self, arguments: Vec<OsString>) -> Run {
        let mut command = homing();
        command
            .args(arguments)
            .env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command.output().expect("homing starts").into()
    }

    /// What the queue says: one line a job or task of an array.
    fn queue(&self) -> Vec<String> {
        let run = self.command("squeue", &["-h", "-r", "-o", "%j %T %r"]);
        // A controller that is being restarted does not answer.
        match run.code {
            Some(0) => run.stdout.lines().map(str::to_owned).collect(),
            _ => vec!["no answer".to_owned()],
        }
    }

    #[track_caller]
    fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            let waited = start.elapsed();
            assert!(
                waited < Duration::from_secs(400),
                "{what}: {:#?}",
                self.queue()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        eprintln!("{what} after {:.1} s", start.elapsed().as_secs_f64());
    }

    #[track_caller]
    fn wait_until_empty(&self) {
        self.wait("the queue is empty", || self.queue().is_empty());
    }

    /// `drain`: nothing begins on it until `resume`.
    fn set(&self, state: &str) -> Run {
        let host = self.succeeds("hostname", &["-s"]);
        let (host, state) = (
            format!("nodename={}", host.trim()),
            format!("state={state}"),
        );
        self.command("scontrol", &["update", &host, &state, "reason=test"])
    }

    /// Submits what is missing until nothing is; how often that was.
    #[track_caller]
    fn finish(&self, place: &Place, name: &str) -> usize {
        for again in 0..4 {
            let run = place.submit(self, name, &["--again"]).ends_with(0);
            if run.stdout == "nothing is missing\n" {
                eprintln!("{name}: --again {again} times");
                return again;
            }
            self.wait_until_empty();
        }
        panic!("{:#?}", place.status(self, name));
    }

    fn process(&self, daemon: &str) -> String {
        let path = self.folder.path().join(format!("{daemon}.pid"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.trim().to_owned()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.command("scancel", &["--me"]);
        let stop = Command::new(script())
            .arg("stop")
            .arg(self.folder.path())
            .status();
        if stop.is_err() {
            eprintln!("{} is still running", self.folder.path().display());
        }
        // They write to the folder until they end.
        std::thread::sleep(Duration::from_secs(2));
    }
}

impl Place {
    fn submit(&self, node: &Node, name: &str, extra: &[&str]) -> Run {
        let mut arguments = self.arguments(name, &["--on", "slurm"]);
        arguments.extend(extra.iter().map(OsString::from));
        node.homing(arguments)
    }

    fn status(&self, node: &Node, name: &str) -> Run {
        let arguments = vec!["experiment".into(), "status".into(), self.out(name).into()];
        node.homing(arguments)
    }
}

/// A process at work in a folder.
fn somebody(folder: &Path) -> Option<AtWork> {
    let parts = folder.join("parts");
    if !parts.exists() {
        return None;
    }
    let files = entries(&parts);
    let mut alive = files.iter().filter(|file| file.ends_with(".alive.json"));
    let text = std::fs::read(parts.join(alive.next()?)).ok()?;
    serde_json::from_slice(&text).ok()
}

fn signal(name: &str, process: &str) {
    let status = Command::new("kill").args([name, process]).status();
    assert!(status.expect("kill").success(), "kill {name} {process}");
}

#[test]
fn an_experiment_runs_as_array_jobs() {
    let Some(node) = Node::start() else { return };
    let place = Place::new(EXPERIMENT);
    place.run("local", &[]).ends_with(0);
    let options = [
        "--chunks",
        "6",
        "--time",
        "10",
        "--mem",
        "1G",
        "--throttle",
        "3",
    ];
    // Nothing begins while we look at the queue.
    node.set("drain").ends_with(0);
    let run = place.submit(&node, "calm", &options).ends_with(0);
    assert_eq!(run.stdout.matches("job ").count(), 3, "{run:#?}");
    let run = place.status(&node, "calm").ends_with(0);
    assert!(run.stdout.contains("queue: 0 running"), "{run:#?}");
    place
        .submit(&node, "calm", &[])
        .ends_with(33)
        .says("--again submits what is missing");
    place
        .submit(&node, "calm", &["--again"])
        .ends_with(33)
        .says("are in the queue: wait for them");
    node.set("resume").ends_with(0);
    node.wait_until_empty();
    same(&place.out("calm"), &place.out("local"));
    let run = place.status(&node, "calm").ends_with(0);
    assert!(run.line("all").trim().starts_with("66 "), "{run:#?}");
    let run = place.submit(&node, "calm", &["--again"]).ends_with(0);
    assert_eq!(run.stdout, "nothing is missing\n");
}

/// A job whose training hangs until Slurm ends it.
#[test]
fn a_job_that_is_timed_out_is_done_again() {
    let Some(node) = Node::start() else { return };
    let place = Place::new(EXPERIMENT);
    place.run("local", &[]).ends_with(0);
    let hung = place.out("hung");
    let options = ["--chunks", "2", "--sbatch=--time=1"];
    place.submit(&node, "hung", &options).ends_with(0);
    let mut stopped = None;
    node.wait("somebody trains", || {
        stopped = somebody(&hung).and_then(|process| child_of(process.process));
        stopped.is_some()
    });
    signal("-STOP", &stopped.expect("a child").to_string());
    node.wait_until_empty();
    let log = hung.join("slurm/log");
    let timed_out = entries(&log).into_iter().filter(|name| {
        let text = std::fs::read_to_string(log.join(name)).expect("a log");
        text.contains("TIME LIMIT")
    });
    assert_eq!(timed_out.count(), 1, "one job was ended by its time limit");
    assert!(node.finish(&place, "hung") > 0);
    place.run("hung", &["--only", "report"]).ends_with(0);
    same(&hung, &place.out("local"));
}

/// Whatever befalls a cluster: the same records in the end.
#[test]
fn a_kill_a_lost_controller_and_a_drained_node_cost_no_record() {
    let Some(node) = Node::start() else { return };
    let place = Place::new(EXPERIMENT);
    let rough = place.out("rough");
    place.run("local", &[]).ends_with(0);
    place
        .submit(&node, "rough", &["--chunks", "6", "--throttle", "2"])
        .ends_with(0);
    let mut victim = None;
    node.wait("somebody works", || {
        victim = somebody(&rough);
        victim.is_some()
    });
    signal("-KILL", &victim.expect("a process").process.to_string());

    // The controller is lost, and comes back.
    signal("-KILL", &node.process("slurmctld"));
    std::thread::sleep(Duration::from_secs(1));
    let run = place.status(&node, "rough");
    assert!(!run.stdout.contains("queue: "), "{run:#?}");
    node.succeeds("slurmctld", &[]);
    node.wait("the controller answers", || {
        node.queue() != ["no answer".to_owned()]
    });

    // The node is drained for a while: what runs ends, and nothing begins.
    node.set("drain").ends_with(0);
    std::thread::sleep(Duration::from_secs(5));
    node.set("resume").ends_with(0);
    // Tasks that were launched twice are held or put off, and the node drained, until somebody
    // looks.
    node.wait("the queue is empty", || {
        let queue = node.queue();
        let put_off = |line: &String| line.contains("held") || line.contains("BeginTime");
        if queue.iter().any(put_off) {
            for id in node.succeeds("squeue", &["-h", "-r", "-o", "%i"]).lines() {
                let id = format!("jobid={id}");
                let _ = node.command("scontrol", &["release", &id]);
                let _ = node.command("scontrol", &["update", &id, "starttime=now"]);
            }
        }
        if node
            .succeeds("sinfo", &["-h", "-o", "%T"])
            .contains("drain")
        {
            let _ = node.set("resume");
        }
        queue.is_empty()
    });
    node.finish(&place, "rough");
    place.run("rough", &["--only", "report"]).ends_with(0);
    same(&rough, &place.out("local"));
}

/// A process that this one has started.
fn child_of(parent: u32) -> Option<u32> {
    let children = format!("/proc/{parent}/task");
    let tasks = std::fs::read_dir(children).ok()?;
    let lists = tasks.flatten().map(|task| task.path().join("children"));
    let mut texts = lists.filter_map(|list| std::fs::read_to_string(list).ok());
    texts.find_map(|text| text.split_whitespace().next()?.parse().ok())
}
