//! The vector kernels. `unsafe` lives here and nowhere else: each kernel works on
//! raw pointers into buffers whose sizes the engine computes from one plan.

pub(crate) mod class_gradient;
pub(crate) mod class_tables;
pub(crate) mod look_up;
pub(crate) mod map;
pub(crate) mod orbit;
pub(crate) mod orbit_rows;
pub(crate) mod pair_tables;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod rows;
pub(crate) mod rows_gradient;
pub(crate) mod sparse;
pub(crate) mod thirds;
pub(crate) mod triples;
pub(crate) mod triples_gradient;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::simd::Simd;
use vector::Kernel;

/// Runs a kernel with the vectors of `simd`. Called by the engines only.
pub(crate) fn dispatch<K: Kernel>(simd: Simd, kernel: &K) {
    // SAFETY: `Nlm::prepare`, the only source of an engine's level, checks that
    // the processor supports it. The engines size every buffer from one plan
    // and one object count and fill every index table from the same.
    unsafe { vector::run(simd, kernel) }
}

/// Runs a kernel with vectors of eight lanes. Called by the engines only.
pub(crate) fn dispatch_half<K: Kernel>(simd: Simd, kernel: &K) {
    // SAFETY: as for `dispatch`.
    unsafe { vector::run_half(simd, kernel) }
}

#[cfg(test)]
mod tests {
    use super::vector::Vector;
    use super::*;

    struct Sigmoids {
        x: *const f32,
        y: *mut f32,
        len: usize,
    }

    impl Kernel for Sigmoids {
        #[inline(always)]
        unsafe fn run<V: Vector>(&self) {
            // SAFETY: the test gives whole vectors.
            unsafe {
                for i in (0..self.len).step_by(V::LANES) {
                    V::load(self.x.add(i)).sigmoid().store(self.y.add(i));
                }
            }
        }
    }

    #[test]
    fn sigmoid_is_accurate_at_every_level() {
        let mut x: Vec<f32> = (0..40_000).map(|i| (i as f32 - 20_000.0) * 1e-3).collect();
        x.extend([0.0, -0.0, 1e-30, -1e-30, 50.0, -50.0, 87.0, -87.0]);
        x.extend([1e3, -1e3, 1e30, -1e30, f32::MAX, f32::MIN, 126.5, -126.5]);
        assert_eq!(x.len() % 16, 0);
        let levels = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        for simd in levels.into_iter().filter(|s| s.supported()) {
            let mut full = vec![0.0; x.len()];
            let mut half = vec![0.0; x.len()];
            for (y, run_half) in [(&mut full, false), (&mut half, true)] {
                let kernel = Sigmoids {
                    x: x.as_ptr(),
                    y: y.as_mut_ptr(),
                    len: x.len(),
                };
                if run_half {
                    dispatch_half(simd, &kernel);
                } else {
                    dispatch(simd, &kernel);
                }
            }
            for ((x, y), h) in x.iter().zip(&full).zip(&half) {
                let exact = 1.0 / (1.0 + (-f64::from(*x)).exp());
                assert!((f64::from(*y) - exact).abs() < 2e-7, "{simd} {x} {y}");
                assert_eq!(y.to_bits(), h.to_bits(), "{simd} {x}");
            }
        }
    }
}
