//! CPU time, whatever else the machine does; of Linux.

/// Seconds that this thread has had a core, by the kernel's count.
pub(crate) fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = times.split_whitespace().next().expect("three numbers");
    first.parse::<f64>().expect("nanoseconds") / 1e9
}

/// Seconds of one call: the mean over as many as take so long.
pub(crate) fn mean_over(seconds: f64, call: &mut impl FnMut()) -> f64 {
    let (start, mut calls) = (cpu_seconds(), 0);
    loop {
        call();
        calls += 1;
        let spent = cpu_seconds() - start;
        if spent >= seconds {
            return spent / f64::from(calls);
        }
    }
}
