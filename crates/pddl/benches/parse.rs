//! How long reading takes, per initial fact.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use homing_pddl::{Source, read_problem};

const DOMAIN: &str = "(define (domain roads)
  (:requirements :strips :typing :action-costs)
  (:types place)
  (:predicates (road ?from ?to - place) (at ?p - place))
  (:functions (total-cost) - number)
  (:action drive
    :parameters (?from ?to - place)
    :precondition (and (at ?from) (road ?from ?to))
    :effect (and (at ?to) (not (at ?from)) (increase (total-cost) 1))))";

/// A ring of 1,000 places with as many roads as asked for.
fn problem(facts: usize) -> Arc<Source> {
    const PLACES: usize = 1_000;
    let mut text = String::from("(define (problem ring)\n  (:domain roads)\n  (:objects");
    for place in 0..PLACES {
        text.push_str(&format!(" place-{place}"));
    }
    text.push_str(" - place)\n  (:init\n    (at place-0)\n");
    for fact in 1..facts {
        let from = fact % PLACES;
        let to = (from + 1 + fact / PLACES) % PLACES;
        text.push_str(&format!("    (road place-{from} place-{to})\n"));
    }
    text.push_str("  )\n  (:goal (at place-7))\n  (:metric minimize (total-cost)))\n");
    Source::new("ring.pddl", text.into_bytes())
}

fn parse(criterion: &mut Criterion) {
    let domain = Source::new("domain.pddl", DOMAIN.as_bytes().to_vec());
    let mut group = criterion.benchmark_group("read_problem");
    group.sample_size(10);
    for facts in [10_000, 100_000, 300_000] {
        let source = problem(facts);
        let (read, messages) = read_problem(&domain, &source);
        assert_eq!(read.expect("it is sound").init.len(), facts, "{messages}");
        group.throughput(Throughput::Elements(facts as u64));
        group.bench_with_input(BenchmarkId::new("facts", facts), &source, |b, source| {
            b.iter(|| black_box(read_problem(&domain, source)));
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
