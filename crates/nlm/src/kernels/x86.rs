//! [`Vector`] with the instructions of x86-64.

use super::vector::{Kernel, Vector};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run_avx2<K: Kernel>(kernel: &K) {
    // SAFETY: the caller vouches for the level and for the pointers.
    unsafe { kernel.run::<Avx2>() }
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
pub(super) unsafe fn run_avx512<K: Kernel>(kernel: &K) {
    // SAFETY: the caller vouches for the level and for the pointers.
    unsafe { kernel.run::<Avx512>() }
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
pub(super) unsafe fn run_avx512_half<K: Kernel>(kernel: &K) {
    // SAFETY: the caller vouches for the level and for the pointers.
    unsafe { kernel.run::<Avx512Half>() }
}

/// The methods every width has under other names.
macro_rules! arithmetic {
    ($set1:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
     $fmadd:ident, $max:ident, $min:ident) => {
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            unsafe { Self($set1(x)) }
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
        unsafe fn add(self, b: Self) -> Self {
            unsafe { Self($add(self.0, b.0)) }
        }
        #[inline(always)]
        unsafe fn sub(self, b: Self) -> Self {
            unsafe { Self($sub(self.0, b.0)) }
        }
        #[inline(always)]
        unsafe fn mul(self, b: Self) -> Self {
            unsafe { Self($mul(self.0, b.0)) }
        }
        #[inline(always)]
        unsafe fn div(self, b: Self) -> Self {
            unsafe { Self($div(self.0, b.0)) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            unsafe { Self($fmadd(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        unsafe fn max(self, b: Self) -> Self {
            unsafe { Self($max(self.0, b.0)) }
        }
        #[inline(always)]
        unsafe fn min(self, b: Self) -> Self {
            unsafe { Self($min(self.0, b.0)) }
        }
    };
}

/// What AVX-512 does in its own way, at either width.
macro_rules! with_masks {
    ($set1:ident, $cmp_mask:ident, $maskz_mov:ident, $roundscale:ident, $min:ident,
     $scalef:ident, $rcp14:ident, $fnmadd:ident, $fmadd:ident) => {
        #[inline(always)]
        unsafe fn where_equal(self, b: Self, x: Self) -> Self {
            unsafe {
                let mask = $cmp_mask::<_CMP_EQ_OQ>(self.0, b.0);
                Self($maskz_mov(mask, x.0))
            }
        }
        #[inline(always)]
        unsafe fn all_zero(self) -> bool {
            unsafe { $cmp_mask::<_CMP_NEQ_UQ>(self.0, $set1(0.0)) == 0 }
        }
        #[inline(always)]
        unsafe fn round(self) -> Self {
            unsafe { Self($roundscale::<0>(self.0)) }
        }
        #[inline(always)]
        unsafe fn bounded(self) -> Self {
            // Scaling takes any exponent; only its reciprocal must not meet infinity.
            unsafe { Self($min(self.0, $set1(126.0))) }
        }
        #[inline(always)]
        unsafe fn scale(self, n: Self) -> Self {
            unsafe { Self($scalef(self.0, n.0)) }
        }
        #[inline(always)]
        unsafe fn reciprocals<const N: usize>(mut x: [Self; N]) -> [Self; N] {
            unsafe {
                // 14 bits, then one Newton step: 28.
                let r = x.map(|x| $rcp14(x.0));
                for (x, r) in x.iter_mut().zip(r) {
                    x.0 = $fnmadd(x.0, r, $set1(1.0));
                }
                for (x, r) in x.iter_mut().zip(r) {
                    x.0 = $fmadd(r, x.0, r);
                }
                x
            }
        }
    };
}

macro_rules! arithmetic_256 {
    () => {
        arithmetic!(
            _mm256_set1_ps,
            _mm256_loadu_ps,
            _mm256_storeu_ps,
            _mm256_add_ps,
            _mm256_sub_ps,
            _mm256_mul_ps,
            _mm256_div_ps,
            _mm256_fmadd_ps,
            _mm256_max_ps,
            _mm256_min_ps
        );
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            unsafe {
                let a = _mm_add_ps(
                    _mm256_castps256_ps128(self.0),
                    _mm256_extractf128_ps::<1>(self.0),
                );
                let b = _mm_add_ps(a, _mm_movehl_ps(a, a));
                _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)))
            }
        }
    };
}

#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256);

// SAFETY: used only inside `run_avx2`, where AVX2 and FMA are enabled; loads
// and stores touch eight f32 the caller vouches for.
unsafe impl Vector for Avx2 {
    const LANES: usize = 8;
    const WIDE: bool = false;
    arithmetic_256!();
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
        unsafe {
            Self(_mm256_round_ps::<
                { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC },
            >(self.0))
        }
    }
    #[inline(always)]
    unsafe fn scale(self, n: Self) -> Self {
        unsafe {
            let e = _mm256_slli_epi32::<23>(_mm256_cvtps_epi32(n.0));
            Self(_mm256_castsi256_ps(_mm256_add_epi32(
                _mm256_castps_si256(self.0),
                e,
            )))
        }
    }
    #[inline(always)]
    unsafe fn reciprocals<const N: usize>(x: [Self; N]) -> [Self; N] {
        unsafe { x.map(|x| Self(_mm256_div_ps(_mm256_set1_ps(1.0), x.0))) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512);

// SAFETY: used only inside `run_avx512`, where AVX-512 is enabled; loads and
// stores touch sixteen f32 the caller vouches for.
unsafe impl Vector for Avx512 {
    const LANES: usize = 16;
    const WIDE: bool = true;
    arithmetic!(
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps,
        _mm512_fmadd_ps,
        _mm512_max_ps,
        _mm512_min_ps
    );
    with_masks!(
        _mm512_set1_ps,
        _mm512_cmp_ps_mask,
        _mm512_maskz_mov_ps,
        _mm512_roundscale_ps,
        _mm512_min_ps,
        _mm512_scalef_ps,
        _mm512_rcp14_ps,
        _mm512_fnmadd_ps,
        _mm512_fmadd_ps
    );
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
}

/// Eight lanes with the registers and instructions of AVX-512; lane by lane the
/// same results as [`Avx512`].
#[derive(Clone, Copy)]
pub(super) struct Avx512Half(__m256);

// SAFETY: used only inside `run_avx512_half`, where AVX-512 is enabled; loads and
// stores touch eight f32 the caller vouches for.
unsafe impl Vector for Avx512Half {
    const LANES: usize = 8;
    const WIDE: bool = true;
    arithmetic_256!();
    with_masks!(
        _mm256_set1_ps,
        _mm256_cmp_ps_mask,
        _mm256_maskz_mov_ps,
        _mm256_roundscale_ps,
        _mm256_min_ps,
        _mm256_scalef_ps,
        _mm256_rcp14_ps,
        _mm256_fnmadd_ps,
        _mm256_fmadd_ps
    );
}
