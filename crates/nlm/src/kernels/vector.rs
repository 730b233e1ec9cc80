//! One vector of eight f32, in plain Rust, AVX2 and AVX-512.
//!
//! Kernels are written once, generic over [`Vector`], and always inlined into
//! an entry point that enables the instructions ([`Level::run`]).
//!
//! In the tree of `docs/nlm.md`: below every leaf.

#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::simd::Simd;

/// Lanes of f32.
///
/// # Safety
///
/// The methods may only run where the instructions of the implementing type are available
/// ([`Level::run`] sees to that), and `load` and `store` where as many f32 lie as there are lanes.
pub(crate) unsafe trait Lanes: Copy {
    const LANES: usize;
    unsafe fn splat(x: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// `self * b + c`.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
}

/// Eight lanes of f32. Every operation is lane by lane.
///
/// # Safety
///
/// As for [`Lanes`].
pub(crate) unsafe trait Vector: Lanes {
    /// Whether there are 32 registers, enough for 24 accumulators with their
    /// operands; else tiles are smaller.
    const WIDE: bool;
    /// The same instructions with all their lanes, for products of matrices.
    type Wide: Lanes;
    unsafe fn add(self, b: Self) -> Self;
    unsafe fn sub(self, b: Self) -> Self;
    unsafe fn mul(self, b: Self) -> Self;
    unsafe fn div(self, b: Self) -> Self;
    unsafe fn max(self, b: Self) -> Self;
    unsafe fn min(self, b: Self) -> Self;
    /// `x` in the lanes where `self == b`, 0 elsewhere.
    unsafe fn where_equal(self, b: Self, x: Self) -> Self;
    /// Whether every lane is zero.
    unsafe fn all_zero(self) -> bool;
    /// The nearest whole number.
    unsafe fn round(self) -> Self;
    /// `self * 2^n` for whole n in [-126, 126] and a normal result.
    unsafe fn scale(self, n: Self) -> Self;
    /// 1 / x for x in [1, 2^127].
    unsafe fn reciprocals<const N: usize>(x: [Self; N]) -> [Self; N];

    /// 1 / (1 + e^-self), absolute error below 2e-7.
    #[inline(always)]
    unsafe fn sigmoid(self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { sigmoids([self])[0] }
    }
}

/// [`Vector::sigmoid`] of each. Step by step for all of them, since each is one long chain
/// of operations that wait for one another.
#[inline(always)]
#[allow(clippy::approx_constant)] // see below
pub(crate) unsafe fn sigmoids<V: Vector, const N: usize>(x: [V; N]) -> [V; N] {
    // 2^f on [-1/2, 1/2], relative error 1e-7: minimax with p(0) = 1.
    const P: [f32; 5] = [
        0.001_326_472_6,
        0.009_671_513,
        0.055_507_336,
        0.240_222_42,
        // Not ln 2: the best slope for five terms.
        0.693_147,
    ];
    // SAFETY: the caller has the instructions.
    unsafe {
        // Loops, not `map`: a long closure would be a call.
        let mut f = x;
        for f in &mut f {
            let t = f.mul(V::splat(-std::f32::consts::LOG2_E));
            *f = t.max(V::splat(-126.0)).min(V::splat(126.0));
        }
        let n = f.map(|t| t.round());
        for (f, n) in f.iter_mut().zip(n) {
            *f = f.sub(n);
        }
        let mut p = [V::splat(P[0]); N];
        for c in [P[1], P[2], P[3], P[4], 1.0] {
            for (p, f) in p.iter_mut().zip(f) {
                *p = p.mul_add(f, V::splat(c));
            }
        }
        for (p, n) in p.iter_mut().zip(n) {
            *p = p.scale(n);
        }
        let p = p.map(|p| p.add(V::splat(1.0)));
        V::reciprocals(p)
    }
}

/// Runs a tile for every `i` from 0 on, as long as there are so many left of `n`: tiles of the
/// first size, where it is for these registers, then of the next. Gives how far they came.
macro_rules! tiles {
    ($i:ident of $n:expr; $($size:literal if $wanted:expr => $tile:expr),+ $(,)?) => {{
        let mut $i = 0;
        $(while $wanted && $n - $i >= $size {
            $tile;
            $i += $size;
        })+
        $i
    }};
}
pub(super) use tiles;

/// Runs tiles of the first size of which `n` has one, where it is for these registers, over what
/// is left of `n` from `first` on. The last of them may compute again what one before it has: no
/// output may be an input.
macro_rules! cover {
    ($i:ident of $first:expr, $n:expr; $($size:literal if $wanted:expr => $tile:expr),+ $(,)?) => {{
        $(if $wanted && $n >= $size {
            let mut next = $first;
            while next < $n {
                let $i = next.min($n - $size);
                $tile;
                next += $size;
            }
        } else)+ {}
    }};
}
pub(super) use cover;

/// Work that can run at any level.
///
/// # Safety
///
/// After `check` has returned, `run` touches nothing but what the kernel's views and slices hold.
pub(crate) unsafe trait Kernel {
    /// # Panics
    ///
    /// Unless every place the kernel reads or writes is one that its views and slices hold.
    fn check(&self);

    /// # Safety
    ///
    /// The instructions of V are available, and [`Kernel::check`] has returned.
    unsafe fn run<V: Vector>(&self);
}

/// Instructions that this processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level(Simd);

impl Level {
    /// # Panics
    ///
    /// If the processor does not support `simd`.
    pub(crate) fn new(simd: Simd) -> Self {
        assert!(simd.supported(), "this processor does not support {simd}");
        Self(simd)
    }

    pub(crate) fn simd(self) -> Simd {
        self.0
    }

    /// [`Lanes::LANES`] of [`Vector::Wide`].
    pub(crate) fn wide_lanes(self) -> usize {
        match self.0 {
            Simd::Avx512 => 16,
            Simd::Portable | Simd::Avx2 => 8,
        }
    }

    /// Checks a kernel and runs it.
    pub(crate) fn run<K: Kernel>(self, kernel: &K) {
        // SAFETY: the processor has the instructions, and the kernel is checked first.
        unsafe {
            match self.0 {
                Simd::Portable => check_and_run::<K, Portable>(kernel),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx2 => x86::run_avx2(kernel),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => x86::run_avx512(kernel),
                #[cfg(not(target_arch = "x86_64"))]
                _ => unreachable!("unsupported level"),
            }
        }
    }
}

/// # Safety
///
/// The instructions of V are available.
#[inline(always)]
pub(super) unsafe fn check_and_run<K: Kernel, V: Vector>(kernel: &K) {
    kernel.check();
    // SAFETY: the caller has the instructions, and the check is done.
    unsafe { kernel.run::<V>() }
}

/// Eight lanes in plain Rust.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Portable([f32; 8]);

impl Portable {
    /// Lane by lane.
    #[inline(always)]
    fn with(self, b: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for (out, b) in out.0.iter_mut().zip(b.0) {
            *out = f(*out, b);
        }
        out
    }
}

// SAFETY: needs no special instructions.
unsafe impl Lanes for Portable {
    const LANES: usize = 8;
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 8])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives eight readable f32.
        unsafe { Self(from.cast::<[f32; 8]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives eight writable f32.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // Not fused: without the instruction a fused product is a slow call.
        self.with(b, |x, y| x * y).with(c, |x, y| x + y)
    }
}

/// Methods of two vectors.
macro_rules! lane_by_lane {
    ($($name:ident: $of_lanes:expr,)*) => {
        $(#[inline(always)]
        unsafe fn $name(self, b: Self) -> Self {
            self.with(b, $of_lanes)
        })*
    };
}

// SAFETY: needs no special instructions.
unsafe impl Vector for Portable {
    const WIDE: bool = false;
    type Wide = Self;
    lane_by_lane! {
        add: |x, y| x + y,
        sub: |x, y| x - y,
        mul: |x, y| x * y,
        div: |x, y| x / y,
        max: |x, y| if x > y { x } else { y },
        min: |x, y| if x < y { x } else { y },
    }
    #[inline(always)]
    unsafe fn where_equal(self, b: Self, x: Self) -> Self {
        let equal = self.with(b, |x, y| f32::from(u8::from(x == y)));
        equal.with(x, |equal, x| if equal > 0.0 { x } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn all_zero(self) -> bool {
        self.0 == [0.0; 8]
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        // Adding and subtracting 1.5 * 2^23 rounds |x| < 2^22 to even.
        const MAGIC: f32 = 12_582_912.0;
        self.with(self, |x, _| (x + MAGIC) - MAGIC)
    }
    #[inline(always)]
    unsafe fn scale(self, n: Self) -> Self {
        // 1.5 * 2^23 + n holds n in its low bits; |n| <= 126, so the exponent fits.
        const MAGIC: f32 = 12_582_912.0;
        self.with(n, |x, n| {
            let exponent = (n + MAGIC).to_bits() << 23;
            f32::from_bits(x.to_bits().wrapping_add(exponent))
        })
    }
    #[inline(always)]
    unsafe fn reciprocals<const N: usize>(x: [Self; N]) -> [Self; N] {
        x.map(|x| x.with(x, |x, _| 1.0 / x))
    }
}
