//! Triples, orbit by orbit.
//!
//! The six orders of three objects form an orbit of S3; order s is the tuple
//! t_s = (o_s(0), o_s(1), o_s(2)), s in lexicographic order. Compose sums over
//! permutations, pre_s = Σ_π W_π g_{s∘π}: a convolution over the group, so in its Fourier
//! basis it is one product for the trivial and one for the sign representation and a product of
//! 2x2 matrices for the standard one: 10 multiplications where the plain sum has 36.
//!
//! ρ acts on the differences (e0 - e1, e1 - e2), so its entries are 0 and ±1
//! and the transforms are sums. ĝ(ρ) = Σ_s g_s ρ(s) and
//! Ŵ(ρ) = d/6 Σ_π W_π ρ(π⁻¹) give P(ρ) = ĝ(ρ) Ŵ(ρ), pre_s = Σ_ρ tr(P(ρ) ρ(s⁻¹)).
//! Coefficients are stored as [trivial, sign, 11, 12, 21, 22].
//!
//! In the tree of `docs/nlm.md`: by class, under `kernels/classes.rs`.

use super::vector::Vector;
use super::view::times;
use crate::plan::BLOCK;

/// Coefficients, or slots, of an orbit.
pub(crate) const SIX: usize = 6;

/// The permutations of three in lexicographic order.
pub(crate) const ORDERS: [[usize; 3]; SIX] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];
/// sgn(s) for the permutations in lexicographic order.
pub(crate) const SIGN: [f32; 6] = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
/// The entries 11, 12, 21, 22 of ρ(s).
pub(crate) const RHO: [[f32; 4]; 6] = [
    [1.0, 0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0, -1.0],
    [-1.0, 1.0, 0.0, 1.0],
    [0.0, -1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0, 0.0],
    [0.0, -1.0, -1.0, 0.0],
];
/// The index of s⁻¹.
pub(crate) const INVERSE: [usize; 6] = [0, 1, 2, 4, 3, 5];
/// Ordered pairs of an orbit (x, y, z): xy, xz, yx, yz, zx, zy. Slot s = (a, b, c)
/// has ab = pair s, ac = pair `AC[s]`, bc = pair `BC[s]`.
pub(crate) const AC: [usize; 6] = [1, 0, 3, 2, 5, 4];
pub(crate) const BC: [usize; 6] = [3, 5, 1, 4, 0, 2];

/// The sums of both transforms to coefficients: the slots 3 and 4, which are one another's
/// inverses, are `p` and `q` in some order.
#[inline(always)]
unsafe fn coefficients<V: Vector>(g: [V; 6], p: usize, q: usize) -> [V; 6] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let d1 = g[0].sub(g[p]);
        let d2 = g[p].sub(g[q]);
        let d3 = g[1].sub(g[2]);
        let d4 = g[2].sub(g[5]);
        let even = g[0].add(g[3]).add(g[4]);
        let odd = g[1].add(g[2]).add(g[5]);
        [
            even.add(odd),
            even.sub(odd),
            d1.add(d3),
            d2.add(d4),
            d3.add(d4).sub(d2),
            d1.add(d2).sub(d3),
        ]
    }
}

/// ĝ from the six slots.
#[inline(always)]
pub(crate) unsafe fn fourier<V: Vector>(g: [V; 6]) -> [V; 6] {
    // SAFETY: the caller has the instructions.
    unsafe { coefficients(g, 4, 3) }
}

/// The six slots from P.
#[inline(always)]
pub(crate) unsafe fn inverse<V: Vector>(p: [V; 6]) -> [V; 6] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let u = p[0].add(p[1]);
        let v = p[0].sub(p[1]);
        let m = p[3].sub(p[4]);
        let h = p[2].sub(p[5]);
        [
            u.add(p[2].add(p[5])),
            v.add(h.add(p[3])),
            v.add(p[4].sub(h)),
            u.sub(p[2].add(m)),
            u.add(m.sub(p[5])),
            v.sub(p[3].add(p[4])),
        ]
    }
}

/// The gradient of the slots from that of their [`fourier`] transform: with matrices transposed and
/// s⁻¹ for s the sums are those of [`inverse`].
#[inline(always)]
pub(crate) unsafe fn fourier_gradient<V: Vector>([d0, d1, d2, d3, d4, d5]: [V; 6]) -> [V; 6] {
    // SAFETY: the caller has the instructions.
    let [s0, s1, s2, s3, s4, s5] = unsafe { inverse([d0, d1, d2, d4, d3, d5]) };
    [s0, s1, s2, s4, s3, s5]
}

/// The gradient of P from that of its [`inverse`] transform.
#[inline(always)]
pub(crate) unsafe fn inverse_gradient<V: Vector>(d: [V; 6]) -> [V; 6] {
    // SAFETY: the caller has the instructions.
    let [p0, p1, p2, p3, p4, p5] = unsafe { coefficients(d, 3, 4) };
    [p0, p1, p2, p4, p3, p5]
}

#[inline(always)]
pub(crate) unsafe fn load_six<V: Vector>(from: *const f32) -> [V; 6] {
    // SAFETY: the caller gives six readable vectors.
    unsafe {
        let mut six = [V::splat(0.0); 6];
        for (i, v) in six.iter_mut().enumerate() {
            *v = V::load(from.add(i * BLOCK));
        }
        six
    }
}

#[inline(always)]
pub(crate) unsafe fn store_six<V: Vector>(six: [V; 6], to: *mut f32) {
    // SAFETY: the caller gives six writable vectors.
    unsafe {
        for (i, v) in six.into_iter().enumerate() {
            v.store(to.add(i * BLOCK));
        }
    }
}

/// What the pairs of an orbit contribute to its slots, features f .. f + 8: `rows` are where what
/// xy, xz, yx, yz, zx, zy contribute lies, `[3][features]` each.
#[inline(always)]
pub(super) unsafe fn pair_slots<V: Vector>(
    rows: [*const f32; SIX],
    features: usize,
    f: usize,
) -> [V; SIX] {
    // SAFETY: the caller gives rows that exist.
    unsafe {
        let mut slots = [V::splat(0.0); SIX];
        for (s, slot) in slots.iter_mut().enumerate() {
            let bc = V::load(rows[BC[s]].add(f));
            let ac = V::load(rows[AC[s]].add(features + f));
            let ab = V::load(rows[s].add(2 * features + f));
            *slot = bc.add(ac).add(ab);
        }
        slots
    }
}

/// acc + Σ_c ĝ_c Ŵ_c for T orbits: 10 multiplications a channel and eight outputs. By value, so
/// that the accumulators stay in registers.
///
/// `g`: `[column block][6][8]` each, `w`: `[column][6][8]`.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // one index runs over several arrays
pub(super) unsafe fn product<V: Vector, const T: usize>(
    g: [*const f32; T],
    columns: usize,
    mut w: *const f32,
    mut acc: [[V; SIX]; T],
) -> [[V; SIX]; T] {
    // SAFETY: the caller gives `columns` columns of g and w.
    unsafe {
        for c in 0..columns {
            let at = c / BLOCK * SIX * BLOCK + c % BLOCK;
            let [w0, w1, w11, w12, w21, w22] = load_six::<V>(w);
            for t in 0..T {
                let x = g[t].add(at);
                let a = &mut acc[t];
                a[0] = V::splat(*x).mul_add(w0, a[0]);
                a[1] = V::splat(*x.add(BLOCK)).mul_add(w1, a[1]);
                let v = V::splat(*x.add(2 * BLOCK));
                a[2] = v.mul_add(w11, a[2]);
                a[3] = v.mul_add(w12, a[3]);
                let v = V::splat(*x.add(4 * BLOCK));
                a[4] = v.mul_add(w11, a[4]);
                a[5] = v.mul_add(w12, a[5]);
                let v = V::splat(*x.add(3 * BLOCK));
                a[2] = v.mul_add(w21, a[2]);
                a[3] = v.mul_add(w22, a[3]);
                let v = V::splat(*x.add(5 * BLOCK));
                a[4] = v.mul_add(w21, a[4]);
                a[5] = v.mul_add(w22, a[5]);
            }
            w = w.wrapping_add(SIX * BLOCK);
        }
    }
    acc
}

/// The sum of both, slot by slot.
#[inline(always)]
pub(super) unsafe fn add_six<V: Vector>(mut a: [V; SIX], b: [V; SIX]) -> [V; SIX] {
    for (a, b) in a.iter_mut().zip(b) {
        // SAFETY: the caller has the instructions.
        *a = unsafe { a.add(b) };
    }
    a
}

/// How far coefficients of so many columns reach: whole blocks but for the last, of which the
/// highest column is the `columns`-th.
pub(super) fn coefficients_len(columns: usize) -> usize {
    match columns.checked_sub(1) {
        None => 0,
        Some(last) => last / BLOCK * SIX * BLOCK + last % BLOCK + (SIX - 1) * BLOCK + 1,
    }
}

/// A table over classes of orbits, `[class][feature block][6][8]`, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) slots: &'a [f32],
    pub(crate) classes: usize,
}

impl Table<'_> {
    /// # Panics
    ///
    /// Unless it has so many classes.
    #[inline(always)]
    pub(super) fn check(&self, features: usize) {
        assert!(self.slots.len() >= times(self.classes, features * SIX));
    }
}

#[cfg(test)]
mod tests {
    use super::super::vector::{Lanes, Portable};
    use super::*;
    use crate::params::permutations;

    fn vector(x: f32) -> Portable {
        // SAFETY: plain Rust.
        unsafe { Portable::splat(x) }
    }

    fn scalar(v: Portable) -> f32 {
        let mut out = [0.0; 8];
        // SAFETY: room for eight.
        unsafe { v.store(out.as_mut_ptr()) };
        out[0]
    }

    fn index(p: &[usize]) -> usize {
        permutations(3).iter().position(|q| q == p).unwrap()
    }

    fn compose(s: usize, t: usize) -> usize {
        let p = permutations(3);
        let c: Vec<usize> = p[t].iter().map(|&i| p[s][i]).collect();
        index(&c)
    }

    #[test]
    fn rho_is_a_representation_and_inverse_is_right() {
        for s in 0..6 {
            assert_eq!(compose(s, INVERSE[s]), 0);
            for t in 0..6 {
                let (a, b, c) = (RHO[s], RHO[t], RHO[compose(s, t)]);
                let product = [
                    a[0] * b[0] + a[1] * b[2],
                    a[0] * b[1] + a[1] * b[3],
                    a[2] * b[0] + a[3] * b[2],
                    a[2] * b[1] + a[3] * b[3],
                ];
                assert_eq!(product, c, "{s} {t}");
                assert_eq!(SIGN[s] * SIGN[t], SIGN[compose(s, t)]);
            }
        }
    }

    #[test]
    fn transforms_are_those_of_the_table() {
        for s in 0..6 {
            let unit: [Portable; 6] =
                std::array::from_fn(|i| vector(if i == s { 1.0 } else { 0.0 }));
            // SAFETY: plain Rust.
            let f = unsafe { fourier(unit) }.map(scalar);
            assert_eq!(f[0], 1.0);
            assert_eq!(f[1], SIGN[s]);
            assert_eq!(f[2..], RHO[s]);
            for k in 0..6 {
                // Rows of the transform and of its gradient are transposes.
                let unit: [Portable; 6] =
                    std::array::from_fn(|i| vector(if i == k { 1.0 } else { 0.0 }));
                // SAFETY: plain Rust.
                let (back, slots) = unsafe { (fourier_gradient(unit), inverse(unit)) };
                assert_eq!(scalar(back[s]), f[k]);
                let r = RHO[INVERSE[s]];
                let table = [1.0, SIGN[s], r[0], r[2], r[1], r[3]];
                assert_eq!(scalar(slots[s]), table[k]);
                let unit: [Portable; 6] =
                    std::array::from_fn(|i| vector(if i == s { 1.0 } else { 0.0 }));
                // SAFETY: plain Rust.
                let d = unsafe { inverse_gradient(unit) }.map(scalar);
                assert_eq!(d[k], table[k], "{s} {k}");
            }
        }
    }
}
