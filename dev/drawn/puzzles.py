"""Puzzles and games of one player."""

import itertools
import math

from shapes import names, neighbours, pairs, rectangle, step


def freecell(rng, values, column_count, cells):
    """A shuffled pack of four suits, dealt to the columns; with 13 values, 8 columns and 4 cells it
    is the game itself."""
    suits, red = "dchs", "dh"

    def name(suit, value):
        return f"{suit}a" if value == 1 else f"{suit}{value}"
    pack = [(suit, value) for suit in suits for value in range(1, values + 1)]
    rng.shuffle(pack)
    numbers = max(values, column_count, cells) + 1
    init = [f"successor n{i + 1} n{i}" for i in range(numbers - 1)]
    init += [f"cellspace n{cells}", "colspace n0"]
    for i in range(column_count):
        column = [name(*card) for card in pack[i::column_count]]
        init += [f"bottomcol {column[0]}", f"clear {column[-1]}"]
        init += [f"on {upper} {lower}" for lower, upper in zip(column, column[1:])]
    for suit, value in [*pack, *((suit, 0) for suit in suits)]:
        init += [f"value {name(suit, value)} n{value}", f"suit {name(suit, value)} {suit}suit"]
    init += [f"canstack {name(a, value)} {name(b, value + 1)}" for a in suits for b in suits
             if (a in red) != (b in red) for value in range(1, values)]
    init += [f"home {suit}0" for suit in suits]
    objects = [("card", [name(*card) for card in pack] + [f"{suit}0" for suit in suits]),
               ("num", names("n", numbers)), ("suit", [f"{suit}suit" for suit in suits])]
    return objects, init, [f"home {name(suit, values)}" for suit in suits]


def genome(rng, count, operations):
    """A ring of genes in order, of which random pieces are moved, half of them turned round; the
    goal is the order of before."""
    ring = [(gene, False) for gene in range(count)]
    for _ in range(operations):
        length, start = rng.randint(1, max(2, count // 2)), rng.randrange(count)
        ring = ring[start:] + ring[:start]
        piece, rest = ring[:length], ring[length:]
        if rng.random() < 0.5:
            piece = [(gene, not turned) for gene, turned in reversed(piece)]
        place = rng.randrange(len(rest))
        ring = rest[:place] + piece + rest[place:]
    init = ["idle"] + [f"cw g{a} g{b}" for (a, _), (b, _) in zip(ring, ring[1:] + ring[:1])]
    init += [f"{'inverted' if turned else 'normal'} g{gene}" for gene, turned in ring]
    goal = [f"cw g{i} g{(i + 1) % count}" for i in range(count)]
    goal += [f"normal g{i}" for i in range(count)] + ["idle"]
    return [(None, names("g", count))], init, goal


def towers(rng, blocks):
    """Some towers, each from the table up, of about five blocks or more."""
    order, piles = blocks[:], []
    rng.shuffle(order)
    for block in order:
        place = len(piles)
        if rng.random() < 0.9 or not piles:
            place = rng.randrange(len(piles) + 1)
        if place == len(piles) and len(piles) < max(2, len(blocks) // 5):
            piles.append([block])
        else:
            rng.choice(piles).append(block)
    return piles


def matching_blocksworld(rng, count):
    """Towers to rebuild with two hands of opposite sign, half of the blocks of each sign."""
    blocks = names("b", count)
    init = ["empty h1", "empty h2", "hand-positive h1", "hand-negative h2"]
    init += [f"solid {block}" for block in blocks]
    init += [f"block-{'positive' if i % 2 else 'negative'} {b}" for i, b in enumerate(blocks)]
    for tower in towers(rng, blocks):
        init += [f"on-table {tower[0]}", f"clear {tower[-1]}"]
        init += [f"on {upper} {lower}" for lower, upper in zip(tower, tower[1:])]
    goal = [f"on {upper} {lower}" for tower in towers(rng, blocks)
            for lower, upper in zip(tower, tower[1:])]
    return [("block", blocks), ("hand", ["h1", "h2"])], init, goal


# Where the cubelets of Rubik's cube are, on the axes x, y and z; corners have three stickers, edges
# two, one for each axis on which they are not in the middle.
CUBELETS = [place for place in itertools.product((-1, 0, 1), repeat=3) if place.count(0) <= 1]
COLOURS = {(0, 1): "red", (0, -1): "orange", (1, 1): "white", (1, -1): "yellow",
           (2, 1): "green", (2, -1): "blue"}


def axes(place):
    return [axis for axis in range(3) if place[axis]]


def turn(colours, axis, side, clockwise):
    """The colours of all places after a quarter turn of the face on that side of the axis."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    swap = {axis: axis, first: second, second: first}
    sign = side if clockwise else -side
    after = dict(colours)
    for place in CUBELETS:
        if place[axis] == side:
            target = list(place)
            target[first], target[second] = sign * place[second], -sign * place[first]
            stickers = {swap[a]: colour for a, colour in zip(axes(place), colours[place])}
            after[tuple(target)] = tuple(stickers[a] for a in axes(target))
    return after


def rubiks_cube(rng, turns):
    """The solved cube after some quarter turns, never two of the same face in a row."""
    solved = {place: tuple(COLOURS[axis, place[axis]] for axis in axes(place))
              for place in CUBELETS}
    quarters = [(axis, side, clockwise) for axis in range(3) for side in (1, -1)
                for clockwise in (True, False)]
    colours, last = solved, None
    for _ in range(turns):
        quarter = rng.choice(quarters)
        while quarter[:2] == last:
            quarter = rng.choice(quarters)
        last = quarter[:2]
        colours = turn(colours, *quarter)

    def facts(cube):
        return [f"{'cube' if all(place) else 'edge'}{''.join('mzp'[v + 1] for v in place)} "
                f"{' '.join(stickers)}" for place, stickers in cube.items()]
    return [("colour", sorted(COLOURS.values()))], facts(colours), facts(solved)


def sliding_tiles(rng, width, height):
    """A rectangle of tiles, mixed by 200 random moves a place."""
    def position(cell):
        return f"p-{cell[0]}-{cell[1]}"
    cells = [(x, y) for y in range(height) for x in range(width)]
    near = neighbours(cells)
    tiles, empty = {cell: tile for tile, cell in enumerate(cells)}, cells[0]
    for _ in range(200 * len(cells) + rng.randrange(2)):
        moved = rng.choice(near[empty])
        tiles[empty], tiles[moved], empty = tiles[moved], 0, moved
    init = [f"neighbor {position(a)} {position(b)}" for a, b in pairs(cells)]
    init += [f"at t{tile} {position(cell)}" for cell, tile in tiles.items() if tile]
    init.append(f"empty {position(empty)}")
    objects = [("tile", names("t", len(cells) - 1, 1)),
               ("position", [position(cell) for cell in cells])]
    return objects, init, [f"at t{tile} {position(c)}" for tile, c in enumerate(cells) if tile]


WAYS = ((0, 1), (1, 0), (0, -1), (-1, 0))
# A piece's kind: its type, its predicate and the start of its name.
PIECES = {"square": ("one_square", "at_square", "square"),
          "straight": ("two_straight", "at_two", "straight"),
          "l": ("right_l", "at_right_l", "rightl")}


def packed(rng, height, width, kinds):
    """Pieces in random places of the lower half, as (kind, cells); drawn anew until all fit."""
    lower = {(row, column) for row in range(height // 2, height) for column in range(width)}
    while True:
        taken, pieces = set(), []
        for kind in kinds:
            for _ in range(200):
                cell = (rng.randrange(height // 2, height), rng.randrange(width))
                cells = [cell]
                if kind == "straight":
                    cells = [cell, step(cell, rng.choice(WAYS))]
                elif kind == "l":
                    cells = [cell, step(cell, (1, 0)), step(cell, (1, 1))]
                if set(cells) <= lower - taken:
                    taken.update(cells)
                    pieces.append((kind, cells))
                    break
        if len(pieces) == len(kinds):
            return pieces


def tetris(rng, height, squares, straights, ls):
    """Four columns of cells, with row 0 at the top, and the upper half to be cleared. The pieces
    start in the lower half and then move at random, rather up than down, by moves that can all be
    undone."""
    width = 4
    cells = rectangle(height, width)
    pieces = packed(rng, height, width,
                    ["l"] * ls + ["straight"] * straights + ["square"] * squares)
    free = set(cells) - {cell for _, piece in pieces for cell in piece}
    for turns in range(200000):
        index, way = rng.randrange(len(pieces)), rng.choice(WAYS)
        kind, old = pieces[index]
        if kind != "straight":
            new = [step(cell, way) for cell in old]
        elif rng.random() < 0.5:
            new = [old[1], step(old[1], way)]
        else:
            new = [step(old[0], way), old[0]]
        if not all(cell in free or cell in old for cell in new):
            continue
        lower = sum(row for row, _ in new) - sum(row for row, _ in old)
        if lower > 0 and rng.random() > math.exp(-lower / (1.5 if turns < 150000 else 0.4)):
            continue
        pieces[index] = kind, new
        free = (free | set(old)) - set(new)

    def name(cell):
        return f"f{cell[0]}-{cell[1]}f"
    init = [f"connected {name(a)} {name(b)}" for a, b in pairs(cells)]
    init += [f"above {name(cell)} {name(step(cell, (1, 0)))}" for cell in cells
             if cell[0] + 1 < height]
    init += [f"right_of {name(step(cell, (0, 1)))} {name(cell)}" for cell in cells
             if cell[1] + 1 < width]
    init += [f"clear {name(cell)}" for cell in cells if cell in free]
    members = {kind: [] for kind in PIECES}
    for i, (kind, piece) in enumerate(pieces):
        _, predicate, prefix = PIECES[kind]
        members[kind].append(f"{prefix}{i}")
        init.append(f"{predicate} {prefix}{i} {' '.join(map(name, piece))}")
    objects = [(PIECES[kind][0], group) for kind, group in members.items()]
    objects.append(("position", [name(cell) for cell in cells]))
    return objects, init, [f"clear {name(cell)}" for cell in cells if cell[0] < height // 2]


# Domain: its generator, the seed of the first problem (the next ones count on), and the sizes (the
# generator's arguments).
DOMAINS = {
    "freecell_large": (freecell, 1901, [
        (6, 6, 4), (8, 7, 4), (10, 8, 4), (12, 8, 4), (13, 8, 4)]),
    "ged": (genome, 2301, [(8, 3), (14, 6), (22, 10), (36, 20), (60, 40)]),
    "matching_bw": (matching_blocksworld, 2601, [(8,), (15,), (25,), (40,), (70,)]),
    "rubiks_cube": (rubiks_cube, 2801, [(2,), (3,), (3,), (4,), (5,)]),
    "sliding_tiles": (sliding_tiles, 601, [(3, 3), (4, 3), (4, 4), (5, 5), (7, 7)]),
    "tetris": (tetris, 301, [(6, 1, 2, 1), (8, 2, 2, 2), (10, 2, 3, 2), (12, 3, 3, 3),
                             (16, 4, 5, 4)]),
}
