"""What the generators share: numbered names, and the steps of a rectangular grid."""

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def names(prefix, count, first=0):
    return [f"{prefix}{i}" for i in range(first, first + count)]


def rectangle(width, height):
    return [(x, y) for x in range(width) for y in range(height)]


def step(cell, direction):
    return cell[0] + direction[0], cell[1] + direction[1]


def neighbours(cells):
    """Each cell with the cells next to it, of the given ones."""
    inside = set(cells)
    return {cell: [step(cell, way) for way in STEPS if step(cell, way) in inside]
            for cell in cells}


def pairs(cells):
    """All ordered pairs of cells next to each other."""
    return [(a, b) for a, near in neighbours(cells).items() for b in near]
