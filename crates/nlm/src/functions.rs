//! exp, ln, tanh and the logistic function from IEEE operations only: the platform's may differ in
//! the last bit between systems, and a seed must give the same weights everywhere.
//!
//! In the tree of `docs/nlm.md`: nowhere. First weights and other networks use it.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// e to the x; arguments beyond ±700 are taken as ±700.
pub fn exp(x: f64) -> f64 {
    // 2^k · exp(r) with |r| ≤ ln 2 / 2, the rest by its series.
    let x = x.clamp(-700.0, 700.0);
    let k = (x * LOG2_E).round();
    let r = x - k * LN_2;
    let mut sum = 1.0;
    for n in (1..14).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// The natural logarithm of a positive normal number.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i64 - 1023) as f64;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // 2 artanh((m − 1) / (m + 1)), by its series: the argument is below 0.18.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let mut sum = 0.0;
    for k in (0..14).rev() {
        sum = sum * t * t + 1.0 / f64::from(2 * k + 1);
    }
    exponent * LN_2 + 2.0 * t * sum
}

/// 1 / (1 + exp(−x)), without overflow on either side.
pub fn sigmoid(x: f64) -> f64 {
    let small = exp(-x.abs());
    if x >= 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}

/// The hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    let small = exp(-2.0 * x.abs());
    ((1.0 - small) / (1.0 + small)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_platform() {
        for step in -4000..4000 {
            let x = f64::from(step) / 100.0;
            assert!((exp(x) - x.exp()).abs() <= 1e-13 * x.exp(), "{x}");
            assert!((ln(x.exp()) - x).abs() <= 1e-12, "{x}");
            assert!((tanh(x) - x.tanh()).abs() <= 1e-13, "{x}");
            let expected = 1.0 / (1.0 + (-x).exp());
            assert!((sigmoid(x) - expected).abs() <= 1e-13 * expected, "{x}");
        }
        assert!(exp(1e9).is_finite() && exp(-1e9) > 0.0);
        for i in 1..1000 {
            let x = f64::from(i) / 1000.0;
            assert!(
                (ln(x) - x.ln()).abs() <= 4e-15 * x.ln().abs().max(1.0),
                "{x}"
            );
        }
    }
}
