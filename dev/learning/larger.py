#!/usr/bin/env python3
"""Write problems of the learning track's domains that are larger than its training problems.

The shapes are plain from the training problems: towers, cars and places, passengers and floors, a
corridor of spanners, sandwiches and trays, a road map, instruments of satellites, rovers, a floor to
paint, boxes to push. Sizes are spread evenly from a little above the training problems up to the
largest sizes that papers name for the competition's test problems; one seed a problem:

    larger.py TRACK OUT [--problems 9]

TRACK is the folder with a folder for each domain; its domain.pddl is copied.
"""

import argparse
import heapq
import random
import shutil
from pathlib import Path


def names(prefix, count):
    return [f"{prefix}{i + 1}" for i in range(count)]


def text(name, domain, objects, init, goal):
    groups = "\n".join(f"    {' '.join(members)} - {kind}" for kind, members in objects)
    facts = "\n".join(f"    ({fact})" for fact in init)
    goals = "\n".join(f"    ({fact})" for fact in goal)
    return (f"(define (problem {name})\n (:domain {domain})\n (:objects\n{groups})\n"
            f" (:init\n{facts})\n (:goal (and\n{goals})))\n")


def towers(rng, blocks):
    """Towers as (block, what it stands on or None), top first within a tower."""
    order = blocks[:]
    rng.shuffle(order)
    below, piles = {}, []
    for block in order:
        place = rng.randrange(len(piles) + 1)
        if place == len(piles):
            piles.append([block])
            below[block] = None
        else:
            below[block] = piles[place][-1]
            piles[place].append(block)
    return below, [pile[-1] for pile in piles]


def blocksworld(rng, n):
    blocks = names("b", n)
    start, tops = towers(rng, blocks)
    end, _ = towers(rng, blocks)

    def facts(below):
        return [f"on {b} {u}" if u else f"on-table {b}" for b, u in below.items()]
    init = ["arm-empty"] + [f"clear {b}" for b in tops] + facts(start)
    return [("object", blocks)], init, facts(end)


def ferry(rng, n):
    cars, places = names("car", n), names("loc", max(4, n // 2))
    init = ["empty-ferry", f"at-ferry {rng.choice(places)}"]
    goal = []
    for car in cars:
        a, b = rng.sample(places, 2)
        init.append(f"at {car} {a}")
        goal.append(f"at {car} {b}")
    return [("car", cars), ("location", places)], init, goal


def miconic(rng, n):
    people, floors = names("p", n), names("f", max(4, n * 3 // 5))
    init = [f"lift-at {rng.choice(floors)}"]
    for person in people:
        a, b = rng.sample(floors, 2)
        init += [f"origin {person} {a}", f"destin {person} {b}"]
    init += [f"above {a} {b}" for i, a in enumerate(floors) for b in floors[i + 1:]]
    return [("passenger", people), ("floor", floors)], init, [f"served {p}" for p in people]


def spanner(rng, n):
    spanners, nuts = names("spanner", n), names("nut", n // 2)
    places = names("location", max(5, n // 2))
    way = ["shed", *places, "gate"]
    init = ["at bob shed"]
    for s in spanners:
        init += [f"at {s} {rng.choice(places)}", f"usable {s}"]
    for nut in nuts:
        init += [f"at {nut} gate", f"loose {nut}"]
    init += [f"link {a} {b}" for a, b in zip(way, way[1:])]
    objects = [("man", ["bob"]), ("spanner", spanners), ("nut", nuts), ("location", way)]
    return objects, init, [f"tightened {nut}" for nut in nuts]


def childsnack(rng, n):
    children, trays = names("child", n), names("tray", max(2, n // 10))
    sandwiches = names("sandw", n + n // 2)
    bread, content = names("bread", n), names("content", n)
    tables = names("table", 3)
    allergic = rng.sample(range(n), n * 3 // 5)
    init = [f"at {tray} kitchen" for tray in trays]
    init += [f"at_kitchen_bread {x}" for x in bread] + [f"at_kitchen_content {x}" for x in content]
    init += [f"no_gluten_bread {bread[i]}" for i in rng.sample(range(n), len(allergic))]
    init += [f"no_gluten_content {content[i]}" for i in rng.sample(range(n), len(allergic))]
    init += [f"{'' if i in allergic else 'not_'}allergic_gluten {c}" for i, c in enumerate(children)]
    init += [f"waiting {c} {rng.choice(tables)}" for c in children]
    init += [f"notexist {s}" for s in sandwiches]
    objects = [("child", children), ("tray", trays), ("sandwich", sandwiches),
               ("bread-portion", bread), ("content-portion", content), ("place", tables)]
    return objects, init, [f"served {c}" for c in children]


def connected(rng, nodes, extra):
    """A connected graph: a random tree and some more edges."""
    order = nodes[:]
    rng.shuffle(order)
    edges = {(a, rng.choice(order[:i])) for i, a in enumerate(order) if i}
    while len(edges) < len(nodes) - 1 + extra:
        a, b = rng.sample(nodes, 2)
        if (a, b) not in edges and (b, a) not in edges:
            edges.add((a, b))
    return sorted(edges)


def transport(rng, n):
    vehicles, packages = names("v", n), names("p", n * 7 // 2)
    places, sizes = names("l", 2 * n), names("c", 4)
    sizes = ["c0", *sizes[:3]]
    init = [f"capacity {v} {rng.choice(sizes[1:])}" for v in vehicles]
    init += [f"capacity-predecessor {a} {b}" for a, b in zip(sizes, sizes[1:])]
    init += [f"at {v} {rng.choice(places)}" for v in vehicles]
    for a, b in connected(rng, places, 2 * n):
        init += [f"road {a} {b}", f"road {b} {a}"]
    goal = []
    for package in packages:
        a, b = rng.sample(places, 2)
        init.append(f"at {package} {a}")
        goal.append(f"at {package} {b}")
    objects = [("vehicle", vehicles), ("package", packages), ("location", places), ("size", sizes)]
    return objects, init, goal


def satellite(rng, n):
    satellites, instruments = names("sat", n), names("ins", n * 2)
    modes, directions = names("mod", max(3, n // 10)), names("dir", n * 6 // 5)
    init = []
    for s in satellites:
        init += [f"pointing {s} {rng.choice(directions)}", f"power_avail {s}"]
    carriers = satellites + [rng.choice(satellites) for _ in range(n)]
    for i, instrument in enumerate(instruments):
        init.append(f"calibration_target {instrument} {rng.choice(directions)}")
        init.append(f"on_board {instrument} {carriers[i]}")
        known = {modes[i % len(modes)], *rng.sample(modes, rng.randint(1, len(modes)))}
        init += [f"supports {instrument} {mode}" for mode in sorted(known)]
    goal = [f"pointing {s} {rng.choice(directions)}" for s in satellites if rng.random() < 0.3]
    goal += [f"have_image {d} {rng.choice(modes)}" for d in directions]
    objects = [("satellite", satellites), ("instrument", instruments), ("mode", modes),
               ("direction", directions)]
    return objects, init, goal


def rovers(rng, n):
    rovers_, points = names("rover", n), names("waypoint", 3 * n)
    cameras, objectives = names("camera", n), names("objective", 3 * n)
    modes = ["colour", "high_res", "low_res"]
    lander = rng.choice(points)
    init = [f"at_lander general {lander}"]
    edges = connected(rng, points, 3 * n)
    for a, b in edges:
        init += [f"visible {a} {b}", f"visible {b} {a}"]
    for i, rover in enumerate(rovers_):
        init += [f"at {rover} {rng.choice(points)}",
                 f"store_of {rover}store {rover}", f"empty {rover}store"]
        skills = [s for s in ("soil", "rock", "imaging") if rng.random() < 0.6 or i < 2]
        init += [f"equipped_for_{s}_analysis {rover}" if s != "imaging"
                 else f"equipped_for_imaging {rover}" for s in skills]
        for a, b in edges:
            if i < 2 or rng.random() < 0.9:
                init += [f"can_traverse {rover} {a} {b}", f"can_traverse {rover} {b} {a}"]
    soil, rock = rng.sample(points, 3 * n // 2), rng.sample(points, 3 * n // 2)
    init += [f"at_soil_sample {p}" for p in soil] + [f"at_rock_sample {p}" for p in rock]
    pictures = set()
    for i, camera in enumerate(cameras):
        known = modes if i < 2 else rng.sample(modes, 2)
        init.append(f"on_board {camera} {rovers_[i % len(rovers_)]}")
        init.append(f"calibration_target {camera} {rng.choice(objectives)}")
        init += [f"supports {camera} {mode}" for mode in known]
    for objective in objectives:
        seen = rng.sample(points, n)
        init += [f"visible_from {objective} {p}" for p in seen]
        pictures.add((objective, rng.choice(modes)))
    goal = [f"communicated_soil_data {p}" for p in soil]
    goal += [f"communicated_rock_data {p}" for p in rock]
    goal += [f"communicated_image_data {o} {m}" for o, m in sorted(pictures)]
    objects = [("lander", ["general"]), ("mode", modes), ("rover", rovers_),
               ("store", [f"{r}store" for r in rovers_]), ("waypoint", points),
               ("camera", cameras), ("objective", objectives)]
    return objects, init, goal


def floortile(rng, n):
    """A floor of n rows below a row that stays bare, in two colours like a chessboard."""
    columns, robots = n + rng.randint(0, 1), names("robot", max(2, n // 3))

    def tile(row, column):
        return f"tile_{row}_{column}"
    tiles = [(r, c) for r in range(n + 1) for c in range(1, columns + 1)]
    stands = rng.sample(tiles, len(robots))
    init = []
    for robot, place in zip(robots, stands):
        init += [f"robot-at {robot} {tile(*place)}",
                 f"robot-has {robot} {rng.choice(('white', 'black'))}"]
    init += ["available-color white", "available-color black"]
    init += [f"clear {tile(*place)}" for place in tiles if place not in stands]
    for row, column in tiles:
        if row < n:
            init += [f"up {tile(row + 1, column)} {tile(row, column)}",
                     f"down {tile(row, column)} {tile(row + 1, column)}"]
        if column < columns:
            init += [f"left {tile(row, column)} {tile(row, column + 1)}",
                     f"right {tile(row, column + 1)} {tile(row, column)}"]
    goal = [f"painted {tile(r, c)} {'black' if (r + c) % 2 else 'white'}" for r, c in tiles if r]
    objects = [("tile", [tile(*place) for place in tiles]), ("robot", robots),
               ("color", ["white", "black"])]
    return objects, init, goal


STEPS = {"down": (1, 0), "up": (-1, 0), "right": (0, 1), "left": (0, -1)}


def way(cells, walls, boxes, start, end):
    """The cheapest way round the boxes, where a step through a wall costs five; None without one."""
    queue, came = [(0, start)], {start: None}
    cost = {start: 0}
    while queue:
        far, cell = heapq.heappop(queue)
        if cell == end:
            path = []
            while cell:
                path.append(cell)
                cell = came[cell]
            return path
        if far > cost[cell]:
            continue
        for dr, dc in STEPS.values():
            new = (cell[0] + dr, cell[1] + dc)
            longer = far + (5 if new in walls else 1)
            if new in cells and new not in boxes and longer < cost.get(new, 10 ** 9):
                cost[new], came[new] = longer, cell
                heapq.heappush(queue, (longer, new))
    return None


def sokoban(rng, n):
    """A grid of n x n with random walls; boxes are pulled away from their goals, backwards, and what
    is on the way becomes floor, so that pushing them back is a plan."""
    inside = [(r, c) for r in range(2, n) for c in range(2, n)]
    cells, walls = set(inside), {cell for cell in inside if rng.random() < 0.45}
    count = max(1, (n - 4) // 2)
    goals = rng.sample(inside, count)
    robot = rng.choice([cell for cell in inside if cell not in goals])
    boxes, order = list(goals), []
    for _ in range(3):
        order += rng.sample(range(count), count)
    for box in order:
        dr, dc = rng.choice(list(STEPS.values()))
        for _ in range(rng.randint(1, 4)):
            behind = (boxes[box][0] + dr, boxes[box][1] + dc)
            further = (behind[0] + dr, behind[1] + dc)
            if not {behind, further} <= cells or {behind, further} & set(boxes):
                break
            path = way(cells, walls, set(boxes), robot, behind)
            if path is None:
                break
            walls -= {*path, behind, further, boxes[box]}
            boxes[box], robot = behind, further
    walls -= {robot, *boxes, *goals}
    return warehouse(n, cells, walls, robot, boxes, goals)


def push(cells, walls, boxes, robot, box, goal):
    """The cheapest way to push a box to its goal, and the robot's around it, where a cell of wall costs
    five: the cells of the box, those of the robot, and where the robot ends. None without one."""
    def toll(cell):
        return 5 if cell in walls else 1

    def around(cell, side, other):
        """From one side of a box to another, cell by cell."""
        ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
        at, to = ring.index(side), ring.index(other)
        for turn in (1, -1):
            path, now = [], at
            while now != to:
                now = (now + turn) % 8
                path.append((cell[0] + ring[now][0], cell[1] + ring[now][1]))
            yield path
    others = boxes - {box}
    queue, cost, came = [], {}, {}
    for side in STEPS.values():
        start = (box[0] + side[0], box[1] + side[1])
        path = start in cells and way(cells, walls, boxes, robot, start)
        if path:
            cost[box, side] = sum(map(toll, path))
            came[box, side] = (None, path)
            heapq.heappush(queue, (cost[box, side], box, side))
    while queue:
        far, cell, side = heapq.heappop(queue)
        if far > cost[cell, side]:
            continue
        if cell == goal:
            track, floor, now = [], set(), (cell, side)
            while now:
                track.append(now[0])
                now, path = came[now]
                floor |= set(path)
            return track, floor, (cell[0] + side[0], cell[1] + side[1])
        steps = [((cell, other), path) for other in STEPS.values() if other != side
                 for path in around(cell, side, other)]
        on = (cell[0] - side[0], cell[1] - side[1])
        steps.append(((on, side), [cell, on]))
        for new, path in steps:
            longer = far + sum(map(toll, path))
            free = all(at in cells and at not in others for at in path)
            if free and longer < cost.get(new, 10 ** 9):
                cost[new], came[new] = longer, ((cell, side), path)
                heapq.heappush(queue, (longer, *new))
    return None


def far(rng, n):
    """A grid of n x n with random walls; each box is pushed to a goal anywhere, one after the other, and
    what is on the way becomes floor."""
    inside = [(r, c) for r in range(2, n) for c in range(2, n)]
    cells, walls = set(inside), {cell for cell in inside if rng.random() < 0.45}
    # Neither begins nor ends at the edge, where most boxes could not be pushed on.
    middle = [(r, c) for r in range(3, n - 1) for c in range(3, n - 1)]
    count = max(1, (n - 4) // 2)
    start, *drawn = rng.sample(middle, 2 * count + 1)
    robot, boxes, goals = start, [], []
    waiting = drawn[:count]
    for index, goal in enumerate(drawn[count:]):
        found = push(cells, walls, set(goals) | set(waiting), robot, waiting[0], goal)
        box = waiting.pop(0)
        if found is None:
            continue
        track, floor, robot = found
        walls -= {*track, *floor}
        boxes.append(box)
        goals.append(goal)
    walls -= {start, *drawn}
    return warehouse(n, cells, walls, start, boxes, goals)


def warehouse(n, cells, walls, robot, boxes, goals):
    """Objects, facts and goal of a grid with boxes."""
    def place(cell):
        return f"loc_{cell[0]}_{cell[1]}"
    everywhere = [(r, c) for r in range(1, n + 1) for c in range(1, n + 1)]
    init = [f"at-robot {place(robot)}"]
    init += [f"at box{i + 1} {place(cell)}" for i, cell in enumerate(boxes)]
    init += [f"clear {place(c)}" for c in sorted(cells - walls - set(boxes))]
    floor = cells - walls
    init += [f"adjacent {place(a)} {place((a[0] + dr, a[1] + dc))} {name}" for a in sorted(floor)
             for name, (dr, dc) in STEPS.items() if (a[0] + dr, a[1] + dc) in floor]
    goal = [f"at box{i + 1} {place(cell)}" for i, cell in enumerate(goals)]
    return [("location", [place(c) for c in everywhere]), ("box", names("box", len(boxes)))], init, goal


# Domain: its generator, and the least and the largest size.
DOMAINS = {
    "blocksworld": (blocksworld, 35, 500),
    "childsnack": (childsnack, 15, 300),
    "ferry": (ferry, 25, 1000),
    "floortile": (floortile, 6, 30),
    "miconic": (miconic, 20, 500),
    "rovers": (rovers, 5, 30),
    "satellite": (satellite, 12, 98),
    "sokoban": (sokoban, 14, 90),
    "sokoban-far": (far, 14, 90),
    "spanner": (spanner, 15, 500),
    "transport": (transport, 8, 50),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("track", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--problems", type=int, default=9, help="for each domain")
    options = parser.parse_args()
    for domain, (make, least, largest) in DOMAINS.items():
        folder = options.out / domain
        folder.mkdir(parents=True, exist_ok=True)
        source = options.track / domain.split("-")[0] / "domain.pddl"
        shutil.copy(source, folder)
        header = source.read_text()
        own = header.split("(domain", 1)[1].split(")")[0].strip()
        for index in range(options.problems):
            rng = random.Random(f"{domain} {index}")
            size = least + round((largest - least) * index / max(1, options.problems - 1))
            name = f"{domain}-{size}-{index}"
            (folder / f"{size:04}.pddl").write_text(text(name, own, *make(rng, size)))


if __name__ == "__main__":
    main()
