"""Robots, and a snake, that move about on a grid."""

from shapes import names, neighbours, pairs, rectangle, step


def opened(cells, start, locks, keys):
    """The cells that can be reached from the start, when all keys of reached cells can be used."""
    near, reached, size = neighbours(cells), {start}, 0
    while size < len(reached):
        size = len(reached)
        shapes = {shape for cell, shape in keys if cell in reached}
        for cell in list(reached):
            reached.update(b for b in near[cell] if b not in locks or locks[b] in shapes)
    return reached


def grid(rng, width, height, shapes, key_count, lock_count, goals):
    """Keys to carry to places of a grid with locked cells; drawn anew until every cell can be
    reached."""
    def node(cell):
        return f"node{cell[0]}-{cell[1]}"
    cells = rectangle(width, height)
    while True:
        locks = {cell: rng.randrange(shapes) for cell in rng.sample(cells, lock_count)}
        keys = [(rng.choice(cells), i % shapes) for i in range(key_count)]
        start = rng.choice([cell for cell in cells if cell not in locks])
        if len(opened(cells, start, locks, keys)) == len(cells):
            break
    init = ["arm-empty", f"at-robot {node(start)}"]
    init += [f"place {node(cell)}" for cell in cells]
    init += [f"conn {node(a)} {node(b)}" for a, b in pairs(cells)]
    init += [f"shape {shape}" for shape in names("shape", shapes)]
    for cell in cells:
        if cell in locks:
            init += [f"locked {node(cell)}", f"lock-shape {node(cell)} shape{locks[cell]}"]
        else:
            init.append(f"open {node(cell)}")
    for i, (cell, shape) in enumerate(keys):
        init += [f"key key{i}", f"key-shape key{i} shape{shape}", f"at key{i} {node(cell)}"]
    goal = [f"at key{i} {node(rng.choice(cells))}" for i in rng.sample(range(key_count), goals)]
    objects = [node(cell) for cell in cells] + names("shape", shapes) + names("key", key_count)
    return [(None, objects)], init, goal


def distances(cells, start):
    """The cells that can be reached from the start, and in how many steps."""
    near, far, queue = neighbours(cells), {start: 0}, [start]
    for cell in queue:
        for other in near[cell]:
            if other not in far:
                far[other] = far[cell] + 1
                queue.append(other)
    return far


def recharging_robots(rng, width, height, robot_count, config_count, slack):
    """Robots on a grid with holes that guard sets of 2 to 4 places, one set after the other. The
    sets are given to the nearest robots in turn; what these steps use of each battery, times the
    slack, is its charge."""
    def place(cell):
        return f"loc-{cell[0]}-{cell[1]}"
    cells = []
    while len(cells) <= 0.75 * width * height:
        drawn = [cell for cell in rectangle(width, height) if rng.random() > 0.15]
        cells = sorted(distances(drawn, drawn[0]))
    starts = [rng.choice(cells) for _ in range(robot_count)]
    stands, used, configs = starts[:], [0] * robot_count, []
    for _ in range(config_count):
        config = rng.sample(cells, rng.randint(2, min(4, robot_count)))
        configs.append(config)
        free = list(range(robot_count))
        for target in config:
            far = distances(cells, target)
            robot = min(free, key=lambda i, far=far: far[stands[i]])
            free.remove(robot)
            used[robot] += far[stands[robot]]
            stands[robot] = target
    charges = [int(steps * slack) + 1 for steps in used]
    most = max(charges)
    init = ["= (move-cost) 1", "= (recharge-cost) 1"]
    init += [f"connected {place(a)} {place(b)}" for a, b in pairs(cells)]
    init += [f"battery-predecessor battery-{i} battery-{i + 1}" for i in range(most)]
    for i, (start, charge) in enumerate(zip(starts, charges)):
        init += [f"at robot-{i} {place(start)}", f"battery robot-{i} battery-{charge}"]
    for i, config in enumerate(configs):
        init.append(f"guard-config-{len(config)} config{i} {' '.join(map(place, config))}")
    objects = [("location", [place(cell) for cell in cells]),
               ("robot", names("robot-", robot_count)),
               ("battery-level", names("battery-", most + 1)),
               ("config", names("config", config_count))]
    goal = [f"config-fullfilled config{i}" for i in range(config_count)]
    return objects, init, goal


WINDS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}


def ricochet_robots(rng, side, robot_count, corners, goals, moves):
    """A square board with corners of two walls each; the goal is where the first robots stand after
    some random moves."""
    def name(cell):
        return f"cell-{cell[0] + 1}-{cell[1] + 1}"
    cells = rectangle(side, side)
    inside = set(cells)
    blocked = {(cell, wind) for cell in cells for wind, way in WINDS.items()
               if step(cell, way) not in inside}
    for _ in range(corners):
        cell = rng.choice(cells)
        for wind in (rng.choice(["north", "south"]), rng.choice(["east", "west"])):
            other = step(cell, WINDS[wind])
            if other in inside:
                blocked |= {(cell, wind), (other, OPPOSITE[wind])}
    starts = rng.sample(cells, robot_count)
    stands = starts[:]
    for _ in range(moves):
        robot, wind = rng.randrange(robot_count), rng.choice(list(WINDS))
        while (stands[robot], wind) not in blocked:
            ahead = step(stands[robot], WINDS[wind])
            if ahead in stands:
                break
            stands[robot] = ahead
    init = ["nothing-is-moving", "= (go-cost) 1", "= (step-cost) 0", "= (stop-cost) 0"]
    init += [f"blocked {name(cell)} {wind}" for cell, wind in sorted(blocked)]
    init += [f"next {name(cell)} {name(step(cell, way))} {wind}" for cell in cells
             for wind, way in WINDS.items() if (cell, wind) not in blocked]
    init += [f"at robot-{i + 1} {name(cell)}" for i, cell in enumerate(starts)]
    init += [f"free {name(cell)}" for cell in cells if cell not in starts]
    objects = [("cell", [name(cell) for cell in cells]),
               ("robot", names("robot-", robot_count, 1)), ("direction", list(WINDS))]
    return objects, init, [f"at robot-{i + 1} {name(stands[i])}" for i in range(goals)]


def snake(rng, width, height, apple_count, at_once):
    """A snake of two cells in a corner of an empty grid, some apples there from the start and the
    others appearing one by one. Both sides are even, so that going round a Hamiltonian cycle eats
    everything."""
    def position(cell):
        return f"pos{cell[0]}-{cell[1]}"
    cells = rectangle(width, height)
    init = [f"isadjacent {position(a)} {position(b)}" for a, b in pairs(cells)]
    init += ["tailsnake pos0-0", "headsnake pos1-0", "nextsnake pos1-0 pos0-0", "blocked pos0-0",
             "blocked pos1-0"]
    free = [cell for cell in cells if cell not in ((0, 0), (1, 0))]
    apples = [position(cell) for cell in rng.sample(free, apple_count)]
    later = [*apples[at_once:], "dummypoint"]
    init += [f"ispoint {apple}" for apple in apples[:at_once]]
    init += [f"spawn {later[0]}"] + [f"nextspawn {a} {b}" for a, b in zip(later, later[1:])]
    goal = ["spawn dummypoint"] + [f"not (ispoint {apple})" for apple in apples]
    return [(None, [position(cell) for cell in cells])], init, goal


def termes(rng, width, height, highest, tower_count, depot_column):
    """Towers anywhere but next to the depot, the first of them as high as can be, and nothing else
    left standing."""
    def position(cell):
        return f"pos-{cell[0]}-{cell[1]}"
    depot, cells = (depot_column, 0), rectangle(width, height)
    apart = [cell for cell in cells if abs(cell[0] - depot[0]) + abs(cell[1] - depot[1]) > 1]
    towers = rng.sample(apart, tower_count)
    heights = {cell: 0 for cell in cells}
    heights[towers[0]] = highest
    for cell in towers[1:]:
        heights[cell] = rng.randint(1, highest)
    init = [f"height {position(cell)} n0" for cell in cells]
    init += [f"at {position(depot)}", f"is-depot {position(depot)}"]
    init += [f"succ n{i + 1} n{i}" for i in range(highest)]
    init += [f"neighbor {position(a)} {position(b)}" for a, b in pairs(cells)]
    goal = [f"height {position(cell)} n{high}" for cell, high in heights.items()]
    objects = [("numb", names("n", highest + 1)), ("position", [position(c) for c in cells])]
    return objects, init, goal + ["not (has-block)"]


def tables(rng, side, count):
    """The cells of tables that do not touch each other; fewer tables where there is no room, and
    then False."""
    cells, complete = set(), True
    for _ in range(count):
        for _ in range(100):
            width, height = rng.choice([(2, 2), (3, 2), (2, 3), (4, 2)])
            left = rng.randrange(1, max(2, side - width))
            top = rng.randrange(1, max(2, side - height))
            around = {(x, y) for x in range(left - 1, left + width + 1)
                      for y in range(top - 1, top + height + 1)}
            if not around & cells:
                cells |= {(left + x, top + y) for x, y in rectangle(width, height)}
                break
        else:
            complete = False
    return cells, complete


def tidybot(rng, side, table_count, object_count):
    """A square room with tables, and objects to bring from random places on them to others. The arm
    reaches two cells in each direction."""
    reach = 2
    while True:
        cells, complete = tables(rng, side, table_count)
        if complete and len(cells) >= object_count * 1.5:
            break

    def relative(axis, offset):
        return f"{axis}r{'m' if offset < 0 else ''}{abs(offset)}"
    offsets = range(-reach, reach + 1)
    init = []
    for axis, before in (("x", "leftof"), ("y", "above")):
        init += [f"{before} {axis}{i} {axis}{i + 1}" for i in range(side - 1)]
        init += [f"{before}-rel {relative(axis, i)} {relative(axis, i + 1)}" for i in offsets[:-1]]
        init += [f"zero{axis}-rel {axis}r0"]
        init += [f"sum-{axis} {axis}{i} {relative(axis, offset)} {axis}{i + offset}"
                 for i in range(side) for offset in offsets if 0 <= i + offset < side]
    init += ["parked pr2", "gripper-empty pr2", "base-pos pr2 x0 y0", "gripper-rel pr2 xr0 yr0",
             "base-obstacle x0 y0"]
    init += [f"base-obstacle x{x} y{y}" for x, y in sorted(cells)]
    starts, ends = (rng.sample(sorted(cells), object_count) for _ in range(2))
    for i, (start, end) in enumerate(zip(starts, ends)):
        init += [f"object-pos object{i} x{start[0]} y{start[1]}",
                 f"gripper-obstacle x{start[0]} y{start[1]}",
                 f"object-goal object{i} x{end[0]} y{end[1]}"]
    things = names("object", object_count)
    objects = [("robot", ["pr2"]), ("object_", things), ("xc", names("x", side)),
               ("yc", names("y", side)), ("xrel", [relative("x", i) for i in offsets]),
               ("yrel", [relative("y", i) for i in offsets])]
    return objects, init, [f"object-done {thing}" for thing in things]


def visitall(_, side):
    """A square grid without holes, from its middle; nothing about it is random."""
    def place(cell):
        return f"loc-x{cell[0]}-y{cell[1]}"
    cells, middle = rectangle(side, side), place((side // 2, side // 2))
    init = [f"at-robot {middle}", f"visited {middle}"]
    init += [f"connected {place(a)} {place(b)}" for a, b in pairs(cells)]
    return [("place", [place(c) for c in cells])], init, [f"visited {place(c)}" for c in cells]


# Domain: its generator, the seed of the first problem (the next ones count on), and the sizes (the
# generator's arguments).
DOMAINS = {
    "grid": (grid, 901, [
        (5, 5, 4, 9, 9, 2), (9, 9, 6, 14, 25, 8), (11, 11, 7, 18, 40, 11),
        (14, 14, 9, 24, 70, 15), (18, 18, 10, 34, 120, 24)]),
    "recharging_robots": (recharging_robots, 2201, [
        (5, 4, 3, 2, 1.5), (7, 6, 4, 3, 1.3), (7, 6, 4, 4, 1.5), (9, 8, 4, 4, 1.4),
        (9, 8, 5, 5, 1.3)]),
    "ricochet_robots": (ricochet_robots, 1801, [
        (12, 4, 20, 1, 8), (16, 4, 36, 1, 200), (20, 5, 50, 2, 400), (30, 5, 100, 3, 800),
        (44, 6, 200, 4, 2000)]),
    "snake": (snake, 401, [
        (4, 4, 8, 3), (6, 6, 15, 5), (8, 8, 15, 5), (8, 8, 30, 5), (10, 10, 50, 5)]),
    "termes": (termes, 101, [
        (4, 3, 3, 4, 1), (5, 4, 4, 4, 2), (5, 4, 4, 6, 2), (6, 5, 4, 8, 3), (7, 6, 5, 8, 3)]),
    "tidybot": (tidybot, 2701, [(6, 1, 2), (7, 2, 4), (9, 3, 6), (11, 4, 9), (14, 6, 14)]),
    "visitall14": (visitall, 1501, [(12,), (26,), (40,), (56,), (76,)]),
}
