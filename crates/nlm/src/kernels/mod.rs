//! The vector kernels, and the memory they work in. `unsafe` and raw pointers live here and
//! nowhere else.
//!
//! A kernel is a struct of sizes, index lists and [views](view) of tensors. [`Level::run`] is the
//! only way to run one: it checks that every place the kernel will read or write is one that its
//! views hold, and panics otherwise. The checks go once over the index lists with the same vector
//! instructions, which is little beside the work that follows.
//!
//! In the tree of `docs/nlm.md`: below every leaf.

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
    use super::rows::Sigmoids;
    use super::view::RowsMut;
    use super::*;
    use crate::simd::Simd;
    use crate::small_cases::levels;

    #[test]
    fn sigmoid_is_accurate_at_every_level() {
        // Fewer under Miri, which takes a thousand times as long.
        let step = if cfg!(miri) { 500 } else { 1 };
        let wide = (0..40_000).step_by(step);
        let mut x: Vec<f32> = wide.map(|i| (i as f32 - 20_000.0) * 1e-3).collect();
        x.extend([0.0, -0.0, 1e-30, -1e-30, 50.0, -50.0, 87.0, -87.0]);
        x.extend([1e3, -1e3, 1e30, -1e30, f32::MAX, f32::MIN, 126.5, -126.5]);
        for simd in levels() {
            let mut y = x.clone();
            Level::new(simd).run(&Sigmoids {
                x: RowsMut::new(&mut y, 0),
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
        Level::new(Simd::Portable).run(&Sigmoids {
            x: RowsMut::new(&mut [0.0; 15], 0),
            len: 16,
        });
    }
}
