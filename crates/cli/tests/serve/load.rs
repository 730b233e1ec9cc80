//! Many clients at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{DOMAIN, Served, problem};

const CLIENTS: usize = 50;
const SOLVES: usize = 4;

#[test]
fn two_hundred_solves_at_once_are_all_answered() {
    let served = Served::new(&["--jobs", "2", "--memory-limit", "500M"]);
    let asked = json!({"domain": DOMAIN, "problem": problem(8)});
    let (solved, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let slowest = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let (mut slowest, mut most_memory) = (Duration::ZERO, 0);
            while !over.load(Ordering::SeqCst) {
                let start = Instant::now();
                assert_eq!(served.request("GET /", "").0, 200);
                slowest = slowest.max(start.elapsed());
                most_memory = most_memory.max(served.resident_kib());
                assert!(served.children() <= 4, "no more than there are places");
                std::thread::sleep(Duration::from_millis(50));
            }
            (slowest, most_memory)
        });
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    // All four are asked for at once, and then come back for.
                    let begun: Vec<Value> = (0..SOLVES)
                        .map(|_| served.post("/package/homing/solve", &asked))
                        .map(|(status, begun)| {
                            assert_eq!(status, 200, "{begun}");
                            begun
                        })
                        .collect();
                    for begun in begun {
                        let path = begun["result"].as_str().expect("a path");
                        loop {
                            let (_, found) = served.get(path);
                            if found["status"] == "PENDING" {
                                std::thread::sleep(Duration::from_millis(200));
                                continue;
                            }
                            let plan = found["result"]["output"]["plan"].as_str();
                            assert!(plan.is_some_and(|plan| plan.contains("(move ")), "{found}");
                            solved.fetch_add(1, Ordering::SeqCst);
                            break;
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().expect("no client fails");
        }
        over.store(true, Ordering::SeqCst);
        looking.join().expect("the page answers")
    });
    assert_eq!(solved.into_inner(), CLIENTS * SOLVES);
    let (slowest, memory) = slowest;
    println!("slowest page {slowest:?}, server {memory} KiB");
    assert!(memory < 300 << 10, "{memory} KiB");
}

#[test]
fn a_full_queue_says_so() {
    let served = Served::new(&["--jobs", "1", "--queue", "1"]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || {
            served
                .post("/package/homing/solve", &super::client::hard())
                .0
        };
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asked
            .into_iter()
            .map(|one| one.join().expect("an answer"))
            .collect()
    });
    assert!(
        statuses.contains(&429) && statuses.contains(&200),
        "{statuses:?}"
    );
}
