//! A number that is the same for problems which differ only in the names of their objects.
//!
//! Objects get colours, refined by the atoms around them. Problems of equal colours are not always
//! the same, but what is learned from them by local patterns nearly is: one of them is enough.

use homing_pddl::Problem;
use homing_pddl::model::ObjectId;

/// Rounds of refinement: one more than what is learned looks at.
const ROUNDS: usize = 3;

/// Multiplies to 128 bits and folds.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64)
}

/// An atom, or a value of a function, with what tells it from others but its objects.
struct Tuple<'a> {
    kind: u64,
    objects: &'a [ObjectId],
}

/// The fingerprint of a problem of one domain.
pub(super) fn fingerprint(problem: &Problem) -> u64 {
    let constants = problem.domain.constants.len();
    let first = |(index, object): (usize, &homing_pddl::model::Object)| {
        // A constant is like no other object.
        let own = if index < constants {
            index as u64 + 1
        } else {
            0
        };
        let types = object.types.iter();
        types.fold(mix(1, own), |colour, t| mix(colour, u64::from(t.0)))
    };
    let mut colours: Vec<u64> = problem.objects.iter().enumerate().map(first).collect();
    let tuples = tuples(problem);
    let colour_of = |tuple: &Tuple<'_>, colours: &[u64]| {
        let objects = tuple.objects.iter();
        objects.fold(tuple.kind, |colour, o| mix(colour, colours[o.index()]))
    };
    for _ in 0..ROUNDS {
        let mut next: Vec<u64> = colours.iter().map(|&colour| mix(2, colour)).collect();
        for tuple in &tuples {
            let colour = colour_of(tuple, &colours);
            for (position, object) in tuple.objects.iter().enumerate() {
                // A sum does not depend on the order.
                let part = mix(colour, position as u64);
                next[object.index()] = next[object.index()].wrapping_add(part);
            }
        }
        colours = next;
    }
    let objects = colours.iter().map(|&colour| mix(3, colour));
    let tuples = tuples
        .iter()
        .map(|tuple| mix(4, colour_of(tuple, &colours)));
    objects.chain(tuples).fold(0, u64::wrapping_add)
}

fn tuples(problem: &Problem) -> Vec<Tuple<'_>> {
    let init = problem.init.iter().map(|atom| Tuple {
        kind: mix(5, u64::from(atom.predicate.0)),
        objects: &atom.arguments,
    });
    let goals = problem.goal.literals.iter().map(|goal| Tuple {
        kind: mix(
            6 + u64::from(goal.positive),
            u64::from(goal.atom.predicate.0),
        ),
        objects: &goal.atom.arguments,
    });
    let values = problem.values.iter().map(|value| Tuple {
        kind: mix(mix(8, u64::from(value.function.0)), u64::from(value.value)),
        objects: &value.arguments,
    });
    init.chain(goals).chain(values).collect()
}
