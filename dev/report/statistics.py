"""Values of SciPy that the tests compare crates/lab/src/statistics.rs with.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy==1.17.1
    /tmp/venv/bin/python dev/report/statistics.py > crates/lab/tests/report/statistics.json
"""
import json
import sys

import numpy
import scipy.stats

draw = numpy.random.default_rng(3)
cases = []
for n, m in [(1, 1), (1, 5), (2, 2), (3, 3), (3, 4), (5, 5), (6, 6), (8, 9), (20, 20), (30, 30), (30, 2), (31, 31), (60, 45)]:
    for shift in (0.0, 0.5, 2.0, 8.0):
        for ties in (False, True):
            x, y = draw.normal(0, 1, n).round(6), draw.normal(shift, 1, m).round(6)
            if ties:
                x, y = numpy.round(x * 2), numpy.round(y * 2)
            pooled = numpy.concatenate([x, y])
            exact = len(set(pooled)) == len(pooled) and max(n, m) <= 30
            method = "exact" if exact else "asymptotic"
            test = scipy.stats.mannwhitneyu(x, y, method=method)
            if numpy.isnan(test.pvalue):
                continue
            cases.append({
                "x": x.tolist(), "y": y.tolist(), "method": method,
                "u": float(test.statistic), "p": float(test.pvalue),
                "mean": float(numpy.mean(x)), "median": float(numpy.median(x)),
                "standard_deviation": float(numpy.std(x, ddof=1)) if n > 1 else None,
                "standard_error": float(scipy.stats.sem(x)) if n > 1 else None,
            })
json.dump({"scipy": scipy.__version__, "cases": cases}, sys.stdout)
print()
