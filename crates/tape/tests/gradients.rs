//! Every operation against finite differences, and the promises about bits.

use std::sync::Arc;

use homing_nlm::{Simd, SplitMix64};
use homing_tape::{Buffers, Layout, Matrix, NONE, Segments, Tape, Var, add_up};

/// A sum of all entries of the output, each with a weight of its own: a wrong place shows.
fn weigh(tape: &mut Tape<'_>, y: Var) -> Var {
    let [rows, columns] = tape.shape(y);
    let mut random = SplitMix64::new(77);
    let weights: Vec<f32> = (0..rows * columns)
        .map(|_| random.unit() as f32 - 0.3)
        .collect();
    let weights = tape.input(rows, columns, &weights);
    tape.row_dot(y, weights)
}

/// Compares the gradient of what `build` makes of the parameters with central differences. `lift`
/// is added to the start, to stay clear of a kink or of a pole.
fn check(layout: &Layout, lift: f32, build: impl Fn(&mut Tape<'_>) -> Var) {
    for simd in [Simd::Portable, Simd::best()] {
        let mut parameters = layout.init(&mut SplitMix64::new(9));
        parameters.iter_mut().for_each(|p| *p += lift);
        let loss = |parameters: &[f32]| -> f64 {
            let mut tape = Tape::new(layout, parameters, simd, Buffers::default());
            let y = build(&mut tape);
            let y = weigh(&mut tape, y);
            tape.value(y).iter().map(|&x| f64::from(x)).sum()
        };
        let mut gradient = vec![0.0; layout.len()];
        let mut tape = Tape::new(layout, &parameters, simd, Buffers::default());
        let y = build(&mut tape);
        let y = weigh(&mut tape, y);
        tape.backward(&[(y, 1.0)], &mut gradient);
        assert!(gradient.iter().any(|&g| g != 0.0), "no gradient at all");
        let step = 4e-3;
        for at in 0..parameters.len() {
            let mut moved = parameters.clone();
            moved[at] = parameters[at] + step;
            let up = f64::from(moved[at]);
            let above = loss(&moved);
            moved[at] = parameters[at] - step;
            let below = loss(&moved);
            let slope = (above - below) / (up - f64::from(moved[at]));
            let found = f64::from(gradient[at]);
            assert!(
                (found - slope).abs() < 2e-3 * slope.abs().max(1.0),
                "{simd}, parameter {at}: {found}, by difference {slope}"
            );
        }
    }
}

fn matrices(shapes: &[[usize; 2]]) -> (Layout, Vec<Matrix>) {
    let mut layout = Layout::default();
    let matrices = shapes
        .iter()
        .enumerate()
        .map(|(at, &[rows, columns])| layout.matrix(&format!("m{at}"), rows, columns, 2))
        .collect();
    (layout, matrices)
}

fn index(rows: &[u32]) -> Arc<[u32]> {
    rows.into()
}

fn lists() -> Segments {
    // Rows shared, left out and out of order; an empty segment.
    Segments::from_lists([&[2, 0][..], &[], &[4, 2, 3], &[4]])
}

#[test]
fn linear_with_split_inputs() {
    let (layout, m) = matrices(&[[5, 3], [5, 2], [5, 18], [1, 18]]);
    check(&layout, 0.0, |tape| {
        let (a, b) = (tape.parameter(m[0]), tape.parameter(m[1]));
        let weight = m[2];
        tape.linear_parts(
            &[(a, weight.part(0..3)), (b, weight.part(3..5))],
            Some(m[3]),
        )
    });
}

#[test]
fn a_linear_map_of_several_inputs_is_that_of_them_side_by_side() {
    let mut layout = Layout::default();
    let map = layout.linear("map", 5, 7);
    let parameters = layout.init(&mut SplitMix64::new(2));
    let mut tape = Tape::new(&layout, &parameters, Simd::best(), Buffers::default());
    let both = tape.input(2, 5, &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10.]);
    let left = tape.input(2, 2, &[1., 2., 6., 7.]);
    let right = tape.input(2, 3, &[3., 4., 5., 8., 9., 10.]);
    let (a, b) = (tape.linear(map, &[both]), tape.linear(map, &[left, right]));
    assert_eq!(tape.value(a), tape.value(b));
}

#[test]
fn sums_and_functions_of_entries() {
    let (layout, m) = matrices(&[[3, 4], [3, 4]]);
    check(&layout, 0.0, |tape| {
        let (a, b) = (tape.parameter(m[0]), tape.parameter(m[1]));
        let sum = tape.add(a, b);
        tape.add(sum, a)
    });
    check(&layout, 0.0, |tape| {
        let (a, b) = (tape.parameter(m[0]), tape.parameter(m[1]));
        let (a, b) = (tape.tanh(a), tape.sigmoid(b));
        let sum = tape.add(a, b);
        tape.scale(sum, -1.5)
    });
}

#[test]
fn rectifiers_on_either_side_of_their_kink() {
    let (layout, m) = matrices(&[[3, 5]]);
    let start = layout.init(&mut SplitMix64::new(9));
    assert!(start.iter().all(|x| x.abs() > 4e-3), "clear of the kink");
    assert!(start.iter().any(|&x| x < 0.0) && start.iter().any(|&x| x > 0.0));
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        let (a, b) = (tape.relu(x), tape.leaky_relu(x, 0.01));
        tape.add(a, b)
    });
}

#[test]
fn gathers() {
    let (layout, m) = matrices(&[[3, 4], [2, 4]]);
    check(&layout, 0.0, |tape| {
        let (a, b) = (tape.parameter(m[0]), tape.parameter(m[1]));
        let one = tape.gather(a, index(&[2, 2, NONE, 1]));
        let two = tape.gather_sum(&[
            (a, index(&[0, NONE, 1, 1])),
            (b, index(&[1, 0, NONE, 1])),
            (a, index(&[0, 2, 1, NONE])),
        ]);
        tape.add(one, two)
    });
}

#[test]
fn onto_what_is_there() {
    let (layout, m) = matrices(&[[3, 4], [2, 4], [3, 2], [2, 4]]);
    check(&layout, 0.0, |tape| {
        let (sum, rows) = (tape.parameter(m[0]), tape.parameter(m[1]));
        let x = tape.parameter(m[2]);
        let gathered = tape.gather_onto(sum, &[(rows, index(&[1, NONE, 1]))]);
        tape.linear_onto(gathered, &[(x, m[3]), (x, m[3])])
    });
}

#[test]
fn segments_by_sum_mean_and_maximum() {
    let (layout, m) = matrices(&[[5, 3]]);
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.segment_sum(x, &lists())
    });
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.segment_mean(x, &lists())
    });
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.segment_max(x, &lists())
    });
}

#[test]
fn a_maximum_gives_its_derivative_to_the_first() {
    let (layout, m) = matrices(&[[3, 1]]);
    let parameters = [0.5, 0.7, 0.7];
    let mut tape = Tape::new(&layout, &parameters, Simd::best(), Buffers::default());
    let x = tape.parameter(m[0]);
    let y = tape.segment_max(x, &Segments::from_lists([&[0, 2, 1][..], &[]]));
    assert_eq!(tape.value(y), [0.7, 0.0]);
    let mut gradient = [0.0; 3];
    tape.backward(&[(y, 1.0)], &mut gradient);
    assert_eq!(gradient, [0.0, 0.0, 1.0]);
}

#[test]
fn the_logarithm_of_a_softmax() {
    let (layout, m) = matrices(&[[5, 1]]);
    let segments = Segments::from_lists([&[2, 0][..], &[4, 1, 3]]);
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.log_softmax_pick(x, &segments, index(&[1, 2]))
    });
    let layout = Layout::default();
    let mut tape = Tape::new(&layout, &[], Simd::best(), Buffers::default());
    let x = tape.input(4, 1, &[1.0, -2.0, 80.0, 81.0]);
    let log = tape.log_softmax_pick(x, &Segments::of_sizes([2, 2]), index(&[1, 0]));
    for (log, difference) in tape.value(log).iter().zip([3.0_f64, 1.0]) {
        assert!((f64::from(*log) + difference.exp().ln_1p()).abs() < 1e-6);
    }
}

#[test]
fn products_of_rows() {
    let (layout, m) = matrices(&[[4, 11], [4, 11], [1, 11]]);
    check(&layout, 0.0, |tape| {
        let (a, b) = (tape.parameter(m[0]), tape.parameter(m[1]));
        tape.row_dot(a, b)
    });
    check(&layout, 0.0, |tape| {
        let (a, one) = (tape.parameter(m[0]), tape.parameter(m[2]));
        tape.row_dot(a, one)
    });
    check(&layout, 0.0, |tape| {
        let a = tape.parameter(m[0]);
        tape.row_dot(a, a)
    });
}

#[test]
fn losses() {
    let (layout, m) = matrices(&[[6, 1]]);
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.squared_error(x, [0.1, 2.0, -1.0, 0.0, 0.5, 0.3].as_slice().into())
    });
    // Ratios well below, within and well above 1 ± 0.2, with advantages of either sign.
    let start = layout.init(&mut SplitMix64::new(9));
    let old: Vec<f32> = start
        .iter()
        .zip([-0.5, -0.5, 0.05, -0.05, 0.5, 0.5])
        .map(|(x, shift)| x - shift)
        .collect();
    let advantage = [1.0, -2.0, 0.7, -0.4, 1.5, -1.0];
    check(&layout, 0.0, |tape| {
        let x = tape.parameter(m[0]);
        tape.clipped_surrogate(x, old.as_slice().into(), advantage.as_slice().into(), 0.2)
    });
    let mut tape = Tape::new(&layout, &start, Simd::best(), Buffers::default());
    let x = tape.parameter(m[0]);
    let loss = tape.clipped_surrogate(x, old.as_slice().into(), advantage.as_slice().into(), 0.2);
    let mut gradient = [0.0; 6];
    tape.backward(&[(loss, 1.0)], &mut gradient);
    // Nothing more to be won: better with a ratio above, worse with one below.
    assert_eq!([gradient[1], gradient[4]], [0.0, 0.0]);
    assert!([0, 2, 3, 5].iter().all(|&at| gradient[at] != 0.0));
}

#[test]
fn outputs_have_weights_and_a_tape_can_be_played_twice() {
    let (layout, m) = matrices(&[[2, 2]]);
    let parameters = [1.0, 2.0, 3.0, 4.0];
    let mut tape = Tape::new(&layout, &parameters, Simd::best(), Buffers::default());
    let x = tape.parameter(m[0]);
    let y = tape.scale(x, 3.0);
    let mut gradient = [0.0; 4];
    tape.backward(&[(x, 0.5), (y, 2.0)], &mut gradient);
    assert_eq!(gradient, [6.5; 4]);
    tape.backward(&[(y, 1.0)], &mut gradient);
    assert_eq!(gradient, [9.5; 4]);
}

/// A small network over a batch in chunks: the gradient's bits on so many threads.
fn gradient_on(threads: usize) -> Vec<f32> {
    let mut layout = Layout::default();
    let first = layout.linear("first", 6, 33);
    let second = layout.linear("second", 33, 1);
    let parameters = layout.init(&mut SplitMix64::new(4));
    let mut random = SplitMix64::new(5);
    let data: Vec<f32> = (0..6 * 70).map(|_| random.unit() as f32).collect();
    let mut buffers: Vec<Buffers> = (0..threads).map(|_| Buffers::default()).collect();
    let mut gradient = vec![0.0; layout.len()];
    // Twice, so that used buffers are tried as well.
    for _ in 0..2 {
        gradient.fill(0.0);
        add_up(
            7,
            &mut buffers,
            &mut gradient,
            |chunk, buffers, gradient| {
                let mine = std::mem::take(buffers);
                let mut tape = Tape::new(&layout, &parameters, Simd::best(), mine);
                let x = tape.input(10, 6, &data[chunk * 60..][..60]);
                let h = tape.linear(first, &[x]);
                let h = tape.leaky_relu(h, 0.01);
                let h = tape.segment_sum(h, &Segments::of_sizes([3, 7]));
                let y = tape.linear(second, &[h]);
                let loss = tape.squared_error(y, [1.0, 2.0].as_slice().into());
                tape.backward(&[(loss, 0.1)], gradient);
                *buffers = tape.into_buffers();
            },
        );
    }
    gradient
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let one = gradient_on(1);
    assert!(one.iter().any(|&g| g != 0.0));
    for threads in [2, 3, 7, 9] {
        assert_eq!(one, gradient_on(threads));
    }
}
