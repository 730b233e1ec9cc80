//! The logistic function, from IEEE operations only: the platform's `exp` may differ in the last bit
//! between systems, and a seed must give the same weights everywhere.

/// 1 / (1 + exp(x))
pub(crate) fn falling_sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(x.clamp(-40.0, 40.0)))
}

/// The logistic loss log(1 + exp(−x)), whose derivative is −[`falling_sigmoid`].
pub(crate) fn logistic_loss(x: f64) -> f64 {
    let small = exp(-x.abs().min(40.0));
    // log(1 + y) = 2 artanh(y / (2 + y)), by its series: the argument is a third at the most.
    let t = small / (2.0 + small);
    let mut sum = 0.0;
    for n in (0..20).rev() {
        sum = sum * t * t + 1.0 / f64::from(2 * n + 1);
    }
    (-x).max(0.0) + 2.0 * t * sum
}

/// exp(x) for |x| ≤ 40: 2^k · exp(r) with |r| ≤ ln 2 / 2, the rest by its series.
fn exp(x: f64) -> f64 {
    let k = (x * std::f64::consts::LOG2_E).round();
    let r = x - k * std::f64::consts::LN_2;
    let mut sum = 1.0;
    for n in (1..14).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_platform() {
        for step in -4500..4500 {
            let x = f64::from(step) / 100.0;
            let expected = 1.0 / (1.0 + x.clamp(-40.0, 40.0).exp());
            let found = falling_sigmoid(x);
            assert!((found - expected).abs() <= 1e-13 * expected, "{x}");
            let expected = (-x).exp().ln_1p();
            let found = logistic_loss(x);
            assert!((found - expected).abs() <= 1e-12 * expected + 1e-17, "{x}");
        }
    }
}
