#!/usr/bin/env python3
"""Draws a terminal as SVG.

Reads what a terminal shows, with its escape sequences for colours, and writes a picture:

    tmux capture-pane -e -p -t NAME | dev/terminal/picture.py --title 'homing quickstart' > picture.svg

It knows bold, faint, underlined, the sixteen colours and `0`; everything else of SGR is passed over.
Every run of characters has its place and its length, so that columns stand below one another whatever
font the reader has; block characters are drawn as rectangles, so that bars have no gaps.
"""

import argparse
import re
import sys
from html import escape

CELL, LINE, SIZE, EDGE, BAR = 8.4, 18, 14, 16, 34
BACKGROUND, FRAME, TEXT, FAINT = "#16181d", "#3a3f4b", "#d7dae0", "#8a919e"
COLOURS = ["#4b5263", "#e06c75", "#7ec87e", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"]
SGR = re.compile(r"\x1b\[([0-9;]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-9;?]*[A-Za-z0-9]|\x0f|\x0e")
EIGHTHS = " ▁▂▃▄▅▆▇█"


def runs(line, style):
    """Pieces of a line with their style, and the style at its end."""
    found, at = [], 0
    for match in SGR.finditer(line):
        if match.start() > at:
            found.append((line[at : match.start()], dict(style)))
        at = match.end()
        if match.group(1) is None:
            continue
        for code in (int(part or 0) for part in match.group(1).split(";")):
            if code == 0:
                style = {}
            elif code in (1, 2, 4):
                style = {**style, {1: "bold", 2: "faint", 4: "underlined"}[code]: True}
            elif code == 22:
                style = {key: style[key] for key in style if key not in ("bold", "faint")}
            elif code == 24:
                style = {key: style[key] for key in style if key != "underlined"}
            elif code == 39:
                style = {key: style[key] for key in style if key != "colour"}
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style = {**style, "colour": COLOURS[code % 10]}
    if at < len(line):
        found.append((line[at:], dict(style)))
    return found, style


def drawn(text, style, column, top):
    """A piece of text of one style as SVG."""
    colour = style.get("colour", FAINT if style.get("faint") else TEXT)
    parts = []
    # Words with single blanks between them are one text; wider gaps and bars part them.
    for match in re.finditer(r"[▁-█]+|[^\s▁-█]+(?: [^\s▁-█]+)*", text):
        word, x = match.group(), EDGE + (column + match.start()) * CELL
        if word[0] in EIGHTHS:
            for place, character in enumerate(word):
                height = LINE * EIGHTHS.index(character) / 8
                parts.append(
                    f'<rect x="{x + place * CELL:.1f}" y="{top + LINE - height:.2f}" width="{CELL - 0.9:.1f}"'
                    f' height="{height + 0.2:.2f}" fill="{colour}"/>'
                )
            continue
        weight = ' font-weight="bold"' if style.get("bold") else ""
        line = ' text-decoration="underline"' if style.get("underlined") else ""
        fill = "" if colour == TEXT else f' fill="{colour}"'
        parts.append(
            f'<text x="{x:.1f}" y="{top + 13.5:.1f}" textLength="{len(word) * CELL:.1f}"'
            f"{fill}{weight}{line}>{escape(word)}</text>"
        )
    return parts


def picture(text, title, columns):
    lines = text.rstrip().split("\n")
    body, style = [], {}
    for number, line in enumerate(lines):
        pieces, style = runs(line.rstrip("\r"), style)
        column = 0
        for piece, how in pieces:
            body += drawn(piece, how, column, BAR + 8 + number * LINE)
            column += len(piece)
        columns = max(columns, column)
    width, height = 2 * EDGE + columns * CELL, BAR + 8 + len(lines) * LINE + EDGE
    dots = "".join(
        f'<circle cx="{EDGE + 6 + 18 * place}" cy="{BAR / 2}" r="5.5" fill="{colour}"/>'
        for place, colour in enumerate(["#e06c75", "#e5c07b", "#7ec87e"])
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
        f' role="img" aria-label="{escape(title)}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas,'
        f" 'DejaVu Sans Mono', monospace\" font-size=\"{SIZE}\" fill=\"{TEXT}\" xml:space=\"preserve\">\n"
        f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="9" fill="{BACKGROUND}" stroke="{FRAME}"/>\n'
        f'{dots}<text x="{width / 2:.1f}" y="{BAR / 2 + 4.5}" text-anchor="middle" fill="{FAINT}" font-size="12.5">{escape(title)}</text>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def main():
    parser = argparse.ArgumentParser(description="Draws what a terminal shows as SVG.")
    parser.add_argument("--title", default="", help="what stands in the window's bar")
    parser.add_argument("--columns", type=int, default=0, help="at least so wide")
    arguments = parser.parse_args()
    sys.stdout.write(picture(sys.stdin.read(), arguments.title, arguments.columns))


if __name__ == "__main__":
    main()
