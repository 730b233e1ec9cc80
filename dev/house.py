#!/usr/bin/env python3
"""Count what there is to read: lines, public names and long functions of each crate.

    dev/house.py TREE [TREE...]

TREE is a checkout; give two to compare them.
"""

import re
import sys
from pathlib import Path

PUBLIC = re.compile(r"^\s*pub (?:const |unsafe |async )*(?:fn|struct|enum|trait|const|static|type|mod)\b")
FUNCTION = re.compile(r"^(\s*)(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |async )*fn (\w+)")


def functions(lines):
    """Names and lengths of functions: from the line with `fn` to the brace that closes it."""
    for start, line in enumerate(lines):
        found = FUNCTION.match(line)
        # Not those without a body, or with one on their own line.
        if found and not line.endswith((";", "}")):
            end = next((i for i in range(start, len(lines)) if lines[i] == found[1] + "}"), start)
            yield end - start + 1, found[2]


def measure(crate):
    lines = public = 0
    longest = []
    for file in sorted((crate / "src").rglob("*.rs")):
        text = file.read_text().splitlines()
        lines += len(text)
        public += sum(bool(PUBLIC.match(line)) for line in text)
        longest += [(length, f"{name} ({file.relative_to(crate)})") for length, name in functions(text)]
    return lines, public, sorted(longest, reverse=True)


for tree in map(Path, sys.argv[1:]):
    print(f"## {tree}\n\n| crate | lines | public names | functions past 80 lines | the longest |")
    print("|---|---:|---:|---:|---|")
    sums = [0, 0, 0]
    for crate in sorted((tree / "crates").iterdir()):
        if (crate / "src").is_dir():
            lines, public, longest = measure(crate)
            past = sum(length > 80 for length, _ in longest)
            length, name = longest[0] if longest else (0, "")
            print(f"| {crate.name} | {lines:,} | {public:,} | {past} | {length}: {name} |")
            sums = [a + b for a, b in zip(sums, (lines, public, past))]
    print(f"| all | {sums[0]:,} | {sums[1]:,} | {sums[2]} | |\n")
