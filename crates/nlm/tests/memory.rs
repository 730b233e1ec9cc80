//! How much memory large structures take, counted by the allocator.
#![allow(unsafe_code)] // an allocator

mod common;

use common::{Rng, blocks, towers};
use homing_nlm::{Nlm, Quantifiers, Simd, Structure, Workspace};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's, with a count of the bytes that are in use and of the most there were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: memory comes from the system's allocator, with the caller's own layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that some work has in use beyond those before it.
fn most(work: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work();
    MOST.load(Ordering::Relaxed) - before
}

/// Memory grows with the number of classes. (One test: another would be counted too.)
#[test]
fn many_objects_need_little_memory() {
    let nlm = Nlm::new(blocks(6, Quantifiers::ExistsForall)).unwrap();
    let parameters = nlm.init(3);
    let structure = towers(&mut Rng(26), 100);
    let gradients = most(|| {
        let prepared = nlm.prepare(&parameters, Simd::best());
        let mut workspace = Workspace::default();
        let mut gradient = vec![0.0; parameters.len()];
        let values = prepared
            .backward(&[&structure], &mut workspace, |_, _| 1.0, &mut gradient)
            .unwrap();
        let evaluated = prepared.evaluate(&[&structure], &mut workspace).unwrap();
        assert!((values[0] - evaluated[0]).abs() <= 1e-5 * values[0].abs().max(1.0));
        assert!(gradient.iter().all(|g| g.is_finite()));
        assert!(gradient.iter().any(|&g| g != 0.0));
    });
    assert!(gradients < 256 << 20, "{gradients} bytes");

    let mut structure = Structure::new(250);
    for x in 0..250 {
        structure.insert(0, &[x, (x * x + 1) % 250]);
    }
    let values = most(|| {
        let prepared = nlm.prepare(&parameters, Simd::best());
        let values = prepared.evaluate(&[&structure], &mut Workspace::default());
        assert!(values.unwrap()[0].is_finite());
    });
    assert!(values < 1 << 30, "{values} bytes");
    // The count counts: 100 objects have a million tuples.
    assert!(gradients > 1 << 22, "{gradients} bytes");
}
