#!/usr/bin/env python3
"""The pictures of docs/cutting.md: a problem and a cut of it, and when a search learns.

    dev/pictures/cutting.py docs/pictures
"""

import sys
from pathlib import Path

INK, PALE, KEPT, LINE = "#24292f", "#d8dee4", "#f2a65a", "#57606a"
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img"
 font-family="system-ui, sans-serif" font-size="14" fill="{ink}">
<title>{title}</title>
<rect width="{w}" height="{h}" fill="#ffffff"/>
"""
SIDE = 26


def text(x, y, words, anchor="middle", size=14, colour=INK, weight="normal"):
    return (f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>\n')


def tower(x, floor, blocks, kept):
    """A tower, its top block first, with the kept ones marked."""
    parts = []
    for height, name in enumerate(reversed(blocks)):
        y = floor - (height + 1) * SIDE
        colour = KEPT if name in kept else PALE
        parts.append(f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" rx="3" fill="{colour}" '
                     f'stroke="{LINE}"/>\n' + text(x + SIDE / 2, y + 18, name))
    return "".join(parts)


def scene(x, floor, width, towers, kept, title):
    """Towers on a table, with a line of words below."""
    gap = 14
    left = x + (width - len(towers) * SIDE - (len(towers) - 1) * gap) / 2
    parts = [f'<line x1="{x}" y1="{floor}" x2="{x + width}" y2="{floor}" stroke="{LINE}" stroke-width="2"/>\n']
    parts += [tower(left + i * (SIDE + gap), floor, blocks, kept) for i, blocks in enumerate(towers)]
    parts.append(text(x + width / 2, floor + 22, title))
    return "".join(parts)


def arrow(x1, x2, y, words):
    return (f'<line x1="{x1}" y1="{y}" x2="{x2 - 8}" y2="{y}" stroke="{LINE}" stroke-width="2"/>\n'
            f'<path d="M{x2 - 9} {y - 5} L{x2} {y} L{x2 - 9} {y + 5} Z" fill="{LINE}"/>\n'
            + text((x1 + x2) / 2, y - 8, words, size=13, colour=LINE))


def problem_and_cut():
    """The problem of twelve blocks that the page tells of, and the cut of five of them."""
    kept, floor = set("dbejl"), 392
    parts = [HEAD.format(w=760, h=440, ink=INK, title="A problem of twelve blocks and a cut of five of them")]
    parts.append(text(190, 34, "The problem", size=17, weight="bold"))
    parts.append(scene(40, floor, 130, ["hagkebdic", "lf", "j"], kept, "initial state"))
    parts.append(scene(240, floor, 80, ["icbldjekfahg"], kept, "goal"))
    parts.append(arrow(345, 465, 240, "cut out"))
    parts.append(text(610, 34, "A cut of it", size=17, weight="bold"))
    parts.append(scene(485, floor, 130, ["ebd", "j", "l"], kept, "initial state"))
    parts.append(scene(650, floor, 80, ["bldje"], kept, "goal"))
    note = ["what lay on e is gone: e is clear", "what d and l lay on is gone:", "they stand on the table"]
    parts += [text(605, 120 + 20 * i, line, size=13, colour=LINE) for i, line in enumerate(note)]
    return "".join(parts) + "</svg>\n"


def schedule():
    """Workers over counted work: when a search learns, and learns anew."""
    first, lesson, more, scale, left = 0.4, 1.5, 1.5, 46, 150
    ends, start = [], first
    for number in range(4):
        ends.append((start, start + lesson * more**number))
        start = ends[-1][1]
    end = start + 0.5
    parts = [HEAD.format(w=780, h=250, ink=INK, title="When a search learns: workers over counted work")]

    def place(seconds):
        return left + seconds * scale

    rows = {"guided": 52, "learned, descents": 104, "novel": 156}
    for name, y in rows.items():
        parts.append(text(left - 12, y + 21, name, anchor="end"))

    def bar(y, begin, finish, colour, words):
        width = place(finish) - place(begin)
        out = f'<rect x="{place(begin):.1f}" y="{y}" width="{width:.1f}" height="32" rx="3" fill="{colour}" stroke="{LINE}"/>\n'
        return out + text(place(begin) + width / 2, y + 21, words, size=13)

    for number, seconds in enumerate([first, *[finish for _, finish in ends]]):
        at = f"{place(seconds):.1f}"
        parts.append(f'<line x1="{at}" y1="40" x2="{at}" y2="196" stroke="{INK}" stroke-dasharray="3 3"/>\n')
        if number < len(ends):
            parts.append(text(at, 34, f"lesson {number + 1}", size=12, colour=LINE))
    parts.append(bar(rows["guided"], 0, end, PALE, "h_FF and landmarks, from the first to the last"))
    parts.append(bar(rows["novel"], first, end, PALE, "what is new, until nothing is"))
    for number, (begin, finish) in enumerate(ends):
        cuts = 60 if number % 2 == 0 else 200
        parts.append(bar(rows["learned, descents"], begin, finish, KEPT, f"{cuts} cuts"))
    parts.append(bar(rows["learned, descents"], start, end, KEPT, "…"))
    for seconds in [first, *[finish for _, finish in ends]]:
        parts.append(text(place(seconds), 214, f"{seconds:.1f}", size=12, colour=LINE))
    parts.append(text(place(end / 2), 238, "seconds of counted work, where descents find nothing better", size=13, colour=LINE))
    return "".join(parts) + "</svg>\n"


def main(folder):
    (folder / "cut.svg").write_text(problem_and_cut())
    (folder / "lessons.svg").write_text(schedule())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
