//! The vector kernels, and the memory they work in. `unsafe` and raw pointers live here and
//! nowhere else.
//!
//! A kernel is a struct of sizes, index lists and [views](view) of tensors. [`Level::run`] is the
//! only way to run one: it checks that every place the kernel will read or write is one that its
//! views hold, and panics otherwise. The checks go once over the index lists with the same vector
//! instructions, which is little beside the work that follows.

pub(crate) mod buffer;
pub(crate) mod classes;
pub(crate) mod look_up;
pub(crate) mod orbit;
pub(crate) mod product;
pub(crate) mod rows;
pub(crate) mod rows_gradient;
pub(crate) mod sparse;
pub(crate) mod thirds;
pub(crate) mod vector;
pub(crate) mod view;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use vector::Level;

#[cfg(test)]
mod tests {
    use super::vector::{Kernel, Vector};
    use super::view::{Rows, RowsMut};
    use super::*;
    use crate::plan::BLOCK;
    use crate::simd::Simd;

    struct Sigmoids<'a> {
        x: Rows<'a>,
        y: RowsMut<'a>,
        len: usize,
    }

    // SAFETY: whole vectors, which `check` asks for.
    unsafe impl Kernel for Sigmoids<'_> {
        #[inline(always)]
        fn check(&self) {
            assert!(self.len.is_multiple_of(BLOCK));
            self.x.check(1, self.len);
            self.y.check(1, self.len);
        }

        #[inline(always)]
        unsafe fn run<V: Vector>(&self) {
            // SAFETY: whole vectors.
            unsafe {
                for i in (0..self.len).step_by(BLOCK) {
                    let y = V::load(self.x.row(0).add(i)).sigmoid();
                    y.store(self.y.row(0).add(i));
                }
            }
        }
    }

    #[test]
    fn sigmoid_is_accurate_at_every_level() {
        // Fewer under Miri, which takes a thousand times as long.
        let step = if cfg!(miri) { 500 } else { 1 };
        let wide = (0..40_000).step_by(step);
        let mut x: Vec<f32> = wide.map(|i| (i as f32 - 20_000.0) * 1e-3).collect();
        x.extend([0.0, -0.0, 1e-30, -1e-30, 50.0, -50.0, 87.0, -87.0]);
        x.extend([1e3, -1e3, 1e30, -1e30, f32::MAX, f32::MIN, 126.5, -126.5]);
        let levels = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        for simd in levels.into_iter().filter(|s| s.supported()) {
            let mut y = vec![0.0; x.len()];
            Level::new(simd).run(&Sigmoids {
                x: Rows::new(&x, 0),
                y: RowsMut::new(&mut y, 0),
                len: x.len(),
            });
            for (x, y) in x.iter().zip(&y) {
                let exact = 1.0 / (1.0 + (-f64::from(*x)).exp());
                assert!((f64::from(*y) - exact).abs() < 2e-7, "{simd} {x} {y}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "1 rows of 16 columns")]
    fn a_kernel_whose_tensor_is_too_small_is_refused() {
        let (x, mut y) = ([0.0; 16], [0.0; 15]);
        Level::new(Simd::Portable).run(&Sigmoids {
            x: Rows::new(&x, 0),
            y: RowsMut::new(&mut y, 0),
            len: 16,
        });
    }
}
