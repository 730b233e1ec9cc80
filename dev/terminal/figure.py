#!/usr/bin/env python3
"""Takes figures out of the page of a report and puts them side by side into one SVG that stands alone.

    dev/terminal/figure.py --title 'Evaluations, h against H' DIR/report/index.html > figure.svg

The page's colours are variables of its style sheet; here they are written out, for light and for dark.
"""

import argparse
import re
import sys
from html import escape, unescape
from pathlib import Path

WIDTH, HEIGHT, GAP, HEAD, FOOT, EDGE = 340, 300, 18, 34, 34, 14
FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif'


def variables(block):
    return dict(re.findall(r"--([a-z]+): *(#[0-9a-f]+)", block))


def palettes(page):
    """The colours of the page, light and dark."""
    light = variables(re.search(r":root *{(.*?)}", page, re.S).group(1))
    dark = re.search(r"prefers-color-scheme: *dark\) *{\s*:root *{(.*?)}", page, re.S)
    return light, {**light, **variables(dark.group(1))}


def style(page, colours):
    """The rules about figures, with the colours written out."""
    kinds = {kind: colours[name] for kind, name in re.findall(r"\.k-([a-z]+) *{ *--k: *var\(--([a-z]+)\)", page)}
    rules = []
    for selector, body in re.findall(r"(?m)(svg [^{}]*?) *{([^{}]*)}", page):
        if "hover" in selector or "legend" in selector:
            continue
        parts = [part.strip().removeprefix("svg ") for part in selector.split(",")]
        body = re.sub(r"var\(--k[^)]*\)", "KIND", body)
        body = re.sub(r"var\(--([a-z]+)\)", lambda match: colours[match.group(1)], body)
        if "KIND" not in body:
            rules.append(f"{', '.join(parts)} {{{body}}}")
            continue
        for kind, colour in kinds.items():
            for part in parts:
                last = part.split()[-1]
                own = part[: -len(last)] + f".k-{kind}{last}"
                rules.append(f".k-{kind} {part}, {own} {{{body.replace('KIND', colour)}}}")
    rules.append(f".sheet {{ fill: {colours['paper']}; stroke: {colours['line']}; }}")
    rules.append(f"text.name {{ font: 600 14px {FONT}; fill: {colours['ink']}; }}")
    rules.append(f"text.word {{ font: 12px {FONT}; fill: {colours['ink']}; }}")
    for kind, colour in kinds.items():
        rules.append(f".swatch.k-{kind} {{ fill: {colour}; }}")
    return "\n".join(rules)


def figures(page, title):
    """Name of the domain and drawing, for every figure with this title."""
    found = []
    for card in re.findall(r'<section class="card">.*?</section>', page, re.S):
        name = unescape(re.search(r"<h\d[^>]*>(.*?)</h\d>", card, re.S).group(1))
        for caption, drawing in re.findall(r"<figure[^>]*><figcaption>(.*?)</figcaption><svg[^>]*>(.*?)</svg>", card, re.S):
            if unescape(re.sub("<[^>]*>", "", caption)) == title:
                found.append((re.sub("<[^>]*>", "", name), re.sub(r"</?a\b[^>]*>", "", drawing)))
    return found


def main():
    parser = argparse.ArgumentParser(description="Takes figures out of a report.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--title", required=True, help="the figures' title")
    parser.add_argument("--domains", help="of these domains only, with commas")
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    chosen = figures(page, arguments.title)
    if arguments.domains:
        by_name = dict(chosen)
        chosen = [(name, by_name[name]) for name in arguments.domains.split(",")]
    if not chosen:
        sys.exit(f"no figure is called `{arguments.title}`")
    light, dark = palettes(page)
    width = 2 * EDGE + len(chosen) * (WIDTH + GAP) - GAP
    height = EDGE + HEAD + HEIGHT + FOOT
    parts = []
    for place, (name, drawing) in enumerate(chosen):
        x = EDGE + place * (WIDTH + GAP)
        parts.append(f'<text class="name" x="{x + 48}" y="{EDGE + 16}">{escape(name)}</text>')
        parts.append(f'<g transform="translate({x} {EDGE + HEAD - 8})">{drawing}</g>')
    kinds = sorted({kind for _, drawing in chosen for kind in re.findall(r"k-([a-z]+)", drawing)})
    legend = "".join(
        f'<rect class="swatch k-{kind}" x="{EDGE + 48 + 84 * place}" y="{height - FOOT + 7}" width="10" height="10" rx="2"/>'
        f'<text class="word" x="{EDGE + 64 + 84 * place}" y="{height - FOOT + 16}">'
        f'{ {"ff": "h_FF", "add": "h_add", "max": "h_max"}.get(kind, kind) }</text>'
        for place, kind in enumerate(kinds)
    )
    sys.stdout.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        f' aria-label="{escape(arguments.title)}">\n<style>\n{style(page, light)}\n'
        f"@media (prefers-color-scheme: dark) {{\n{style(page, dark)}\n}}\n</style>\n"
        f'<rect class="sheet" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>\n'
        + "\n".join(parts)
        + f"\n{legend}\n</svg>\n"
    )


if __name__ == "__main__":
    main()
