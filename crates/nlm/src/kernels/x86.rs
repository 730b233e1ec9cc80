//! [`Vector`] with the instructions of x86-64.
//!
//! Vectors have 256 bits with AVX-512 too: eight features are the rule, so that no lane is
//! empty. What AVX-512 adds are registers, masks and quicker exponents and reciprocals. Products of
//! large matrices have all its lanes ([`Sixteen`]).
//!
//! In the tree of `docs/nlm.md`: below every leaf, on such processors.

use super::vector::{Kernel, Lanes, Vector, check_and_run};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run_avx2<K: Kernel>(kernel: &K) {
    // SAFETY: the instructions are enabled.
    unsafe { check_and_run::<K, Avx2>(kernel) }
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
pub(super) unsafe fn run_avx512<K: Kernel>(kernel: &K) {
    // SAFETY: the instructions are enabled.
    unsafe { check_and_run::<K, Avx512>(kernel) }
}

/// [`Lanes`] of types of vectors, given their instructions.
macro_rules! lanes {
    ($($type:ty),+: $lanes:expr, $set:ident, $load:ident, $store:ident, $fmadd:ident) => {
        // SAFETY: used only where `run_avx2` or `run_avx512` enables the instructions; loads and
        // stores touch f32 the caller vouches for.
        $(unsafe impl Lanes for $type {
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn splat(x: f32) -> Self {
                unsafe { Self($set(x)) }
            }
            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                unsafe { Self($load(from)) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                unsafe { Self($fmadd(self.0, b.0, c.0)) }
            }
        })+
    };
}
lanes! {
    Avx2, Avx512: 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps
}
lanes! {
    Sixteen: 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps
}

/// Methods of two vectors that are one instruction.
macro_rules! instructions {
    ($($name:ident: $instruction:ident,)*) => {
        $(#[inline(always)]
        unsafe fn $name(self, b: Self) -> Self {
            unsafe { Self($instruction(self.0, b.0)) }
        })*
    };
}

/// The methods that are the same with and without AVX-512.
macro_rules! arithmetic {
    () => {
        instructions! {
            add: _mm256_add_ps,
            sub: _mm256_sub_ps,
            mul: _mm256_mul_ps,
            div: _mm256_div_ps,
            max: _mm256_max_ps,
            min: _mm256_min_ps,
        }
    };
}

#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256);

// SAFETY: used only inside `run_avx2`, where AVX2 and FMA are enabled; loads
// and stores touch eight f32 the caller vouches for.
unsafe impl Vector for Avx2 {
    const WIDE: bool = false;
    type Wide = Self;
    arithmetic!();
    #[inline(always)]
    unsafe fn where_equal(self, b: Self, x: Self) -> Self {
        unsafe { Self(_mm256_and_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, b.0), x.0)) }
    }
    #[inline(always)]
    unsafe fn all_zero(self) -> bool {
        unsafe {
            let zero = _mm256_setzero_ps();
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, zero)) == 0
        }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        unsafe { Self(_mm256_round_ps::<NEAREST>(self.0)) }
    }
    #[inline(always)]
    unsafe fn scale(self, n: Self) -> Self {
        unsafe {
            let e = _mm256_slli_epi32::<23>(_mm256_cvtps_epi32(n.0));
            let bits = _mm256_add_epi32(_mm256_castps_si256(self.0), e);
            Self(_mm256_castsi256_ps(bits))
        }
    }
    #[inline(always)]
    unsafe fn reciprocals<const N: usize>(x: [Self; N]) -> [Self; N] {
        unsafe { x.map(|x| Self(_mm256_div_ps(_mm256_set1_ps(1.0), x.0))) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Avx512(__m256);

// SAFETY: used only inside `run_avx512`, where AVX-512 is enabled; loads and
// stores touch eight f32 the caller vouches for.
unsafe impl Vector for Avx512 {
    const WIDE: bool = true;
    type Wide = Sixteen;
    arithmetic!();
    #[inline(always)]
    unsafe fn where_equal(self, b: Self, x: Self) -> Self {
        unsafe {
            let mask = _mm256_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, b.0);
            Self(_mm256_maskz_mov_ps(mask, x.0))
        }
    }
    #[inline(always)]
    unsafe fn all_zero(self) -> bool {
        unsafe { _mm256_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, _mm256_set1_ps(0.0)) == 0 }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        unsafe { Self(_mm256_roundscale_ps::<0>(self.0)) }
    }
    instructions! { scale: _mm256_scalef_ps, }
    #[inline(always)]
    unsafe fn reciprocals<const N: usize>(mut x: [Self; N]) -> [Self; N] {
        unsafe {
            // 14 bits, then one Newton step: 28.
            let r = x.map(|x| _mm256_rcp14_ps(x.0));
            for (x, r) in x.iter_mut().zip(r) {
                x.0 = _mm256_fnmadd_ps(x.0, r, _mm256_set1_ps(1.0));
            }
            for (x, r) in x.iter_mut().zip(r) {
                x.0 = _mm256_fmadd_ps(r, x.0, r);
            }
            x
        }
    }
}

/// All of AVX-512's lanes.
#[derive(Clone, Copy)]
pub(super) struct Sixteen(__m512);
