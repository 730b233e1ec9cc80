//! The parts beside the tape itself: layouts, segments, chunks.

use homing_nlm::SplitMix64;
use homing_tape::{Buffers, Layout, Segments, add_up};

#[test]
fn threads_change_no_bit() {
    let sum = |threads: usize| {
        let mut buffers: Vec<Buffers> = (0..threads).map(|_| Buffers::default()).collect();
        let mut gradient = vec![0.0; 100];
        let results = add_up(37, &mut buffers, &mut gradient, |chunk, _, gradient| {
            for (i, x) in gradient.iter_mut().enumerate() {
                *x = 1.0 / (1.0 + chunk as f32 * 7.3 + i as f32);
            }
            chunk * 2
        });
        assert_eq!(results, (0..37).map(|i| i * 2).collect::<Vec<_>>());
        gradient
    };
    let one = sum(1);
    assert!([2, 3, 8].into_iter().all(|threads| sum(threads) == one));
    assert_eq!(sum(2).len(), 100);
}

#[test]
fn a_start_is_seeded_and_within_its_bound() {
    let mut layout = Layout::default();
    let map = layout.linear("map", 100, 50);
    assert_eq!(layout.len(), 5_050);
    assert_eq!(map.weight.part(10..30).range(), 500..1_500);
    let start = layout.init(&mut SplitMix64::new(3));
    assert_eq!(start, layout.init(&mut SplitMix64::new(3)));
    assert_ne!(start, layout.init(&mut SplitMix64::new(4)));
    assert!(start.iter().all(|x| x.abs() <= 0.1));
    let variance = start.iter().map(|x| x * x).sum::<f32>() / 5_050.0;
    // That of a uniform number is a third of the square of its bound.
    assert!((variance - 0.01 / 3.0).abs() < 2e-4, "{variance}");
}

#[test]
fn ways_to_make_them_agree() {
    let lists: [&[u32]; 3] = [&[0, 1], &[], &[2]];
    let segments = Segments::from_lists(lists);
    assert_eq!(segments, Segments::of_sizes([2, 0, 1]));
    assert_eq!(segments, Segments::new(vec![0, 2, 2, 3], vec![0, 1, 2]));
    assert_eq!(segments.iter().collect::<Vec<_>>(), lists);
    assert_eq!((segments.len(), segments.is_empty()), (3, false));
}
