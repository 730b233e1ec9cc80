#!/usr/bin/env python3
"""Problems for the comparison with other planners.

For each of the paper's eight domains three sizes within the ranges of its test
instances, generated here from a seed against the domain files in place, and
ten competition problems. As a command it only writes the generated problems to
a folder and prints the list.
"""

import argparse
import random
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
INSTANCES = REPOSITORY / "../shared/instances"
BENCHMARKS = REPOSITORY / "../shared/benchmarks"

# domain -> three sizes, in the words of the generator below
SIZES = {
    "blocks": [(10,), (30,), (50,)],
    "ferry": [(10, 10), (20, 20), (30, 30)],
    "gripper": [(20,), (40,), (60,)],
    "logistics": [(4, 4, 4, 4), (6, 6, 6, 6), (8, 8, 8, 8)],
    "miconic": [(10, 10), (20, 20), (30, 30)],
    "parking": [(10, 15), (15, 20), (25, 25)],
    "satellite": [(4, 4, 4, 4, 4), (6, 6, 6, 6, 6), (8, 8, 8, 8, 8)],
    "visitall": [(6,), (7,), (8,)],
}

# Ten domains, middle to large; the last three carry action costs.
COMPETITION = [
    "depot/p16",
    "driverlog/p16",
    "freecell/p10",
    "pipesworld-notankage/p22-net3-b12-g4",
    "rovers/p28",
    "tpp/p19",
    "zenotravel/p16",
    "barman-opt11-strips/pfile04-013",
    "elevators-sat11-strips/p10",
    "transport-sat08-strips/p16",
]


def look_in(shared):
    """Take the domain files and the competition problems from another folder."""
    global INSTANCES, BENCHMARKS
    INSTANCES, BENCHMARKS = Path(shared) / "instances", Path(shared) / "benchmarks"


def numbered(prefix, count):
    return [f"{prefix}{i}" for i in range(count)]


def towers(rng, blocks):
    """(block, below) pairs, below None on the table: each block on any free top or the table."""
    order = rng.sample(blocks, len(blocks))
    tops, pairs = [], []
    for block in order:
        place = rng.randrange(len(tops) + 1)
        if place == len(tops):
            pairs.append((block, None))
            tops.append(block)
        else:
            pairs.append((block, tops[place]))
            tops[place] = block
    return pairs, tops


def blocks(rng, count):
    names = [f"b{i + 1}" for i in range(count)]
    start, tops = towers(rng, names)
    end, _ = towers(rng, names)
    init = ["arm-empty"]
    init += [f"on {a} {b}" if b else f"on-table {a}" for a, b in start]
    init += [f"clear {b}" for b in tops]
    return names, init, [f"on {a} {b}" for a, b in end if b]


def ferry(rng, locations, cars):
    places, vehicles = numbered("l", locations), numbered("c", cars)
    init = [f"location {p}" for p in places] + [f"car {c}" for c in vehicles]
    init += [f"not-eq {a} {b}" for a in places for b in places if a != b]
    init += ["empty-ferry", f"at-ferry {rng.choice(places)}"]
    init += [f"at {c} {rng.choice(places)}" for c in vehicles]
    return places + vehicles, init, [f"at {c} {rng.choice(places)}" for c in vehicles]


def gripper(rng, count):
    rooms, hands = ["rooma", "roomb"], ["left", "right"]
    balls = [f"ball{i + 1}" for i in range(count)]
    init = [f"room {r}" for r in rooms] + [f"gripper {g}" for g in hands] + [f"ball {b}" for b in balls]
    init += [f"free {g}" for g in hands] + [f"at-robby {rng.choice(rooms)}"]
    init += [f"at {b} {rng.choice(rooms)}" for b in balls]
    return rooms + hands + balls, init, [f"at {b} {rng.choice(rooms)}" for b in balls]


def logistics(rng, airplanes, cities, size, packages):
    planes, towns, trucks = numbered("a", airplanes), numbered("c", cities), numbered("t", cities)
    goods = numbered("p", packages)
    places = [[f"l{c}-{i}" for i in range(size)] for c in range(cities)]
    everywhere = sum(places, [])
    init = [f"airplane {a}" for a in planes] + [f"city {c}" for c in towns] + [f"truck {t}" for t in trucks]
    init += [f"location {p}" for p in everywhere] + [f"obj {p}" for p in goods]
    init += [f"in-city {p} {town}" for town, inside in zip(towns, places) for p in inside]
    init += [f"airport {inside[0]}" for inside in places]
    init += [f"at {t} {rng.choice(inside)}" for t, inside in zip(trucks, places)]
    init += [f"at {p} {rng.choice(everywhere)}" for p in goods]
    init += [f"at {a} {rng.choice(places)[0]}" for a in planes]
    goal = [f"at {p} {rng.choice(everywhere)}" for p in goods]
    return planes + towns + trucks + everywhere + goods, init, goal


def miconic(rng, floors, passengers):
    levels, people = numbered("f", floors), numbered("p", passengers)
    init = [f"above {a} {b}" for i, a in enumerate(levels) for b in levels[i + 1 :]]
    for person in people:
        origin, destination = rng.sample(levels, 2)
        init += [f"origin {person} {origin}", f"destin {person} {destination}"]
    init.append(f"lift-at {rng.choice(levels)}")
    objects = [f"{p} - passenger" for p in people] + [f"{f} - floor" for f in levels]
    return objects, init, [f"served {p}" for p in people]


def parking(rng, curbs, cars):
    """Pairs of cars fill the first curbs; in the goal every curb gets a first car before a second."""
    spaces, vehicles = numbered("curb_", curbs), numbered("car_", cars)
    order = rng.sample(vehicles, cars)
    init = []
    for i, curb in enumerate(spaces):
        here = order[2 * i : 2 * i + 2]
        if not here:
            init.append(f"curb-clear {curb}")
            continue
        init += [f"at-curb {here[0]}", f"at-curb-num {here[0]} {curb}", f"car-clear {here[-1]}"]
        if len(here) == 2:
            init.append(f"behind-car {here[1]} {here[0]}")
    goal = [f"at-curb-num {c} {spaces[i]}" if i < curbs else f"behind-car {c} {vehicles[i - curbs]}"
            for i, c in enumerate(vehicles)]
    return [f"{c} - car" for c in vehicles] + [f"{c} - curb" for c in spaces], init, goal


def satellite(rng, satellites, instruments, modes, targets, observations):
    """At most `instruments` a satellite; targets calibrate, observations are to be photographed."""
    crafts, kinds = numbered("satellite", satellites), numbered("mode", modes)
    calibration = numbered("star", targets)
    observed = [f"phenomenon{targets + i}" for i in range(observations)]
    directions = calibration + observed
    tools, init = [], []
    for craft in crafts:
        for _ in range(rng.randint(1, instruments)):
            tool = f"instrument{len(tools)}"
            tools.append(tool)
            init += [f"supports {tool} {m}" for m in rng.sample(kinds, rng.randint(1, modes))]
            init += [f"calibration_target {tool} {rng.choice(calibration)}", f"on_board {tool} {craft}"]
        init += [f"power_avail {craft}", f"pointing {craft} {rng.choice(directions)}"]
    for kind in kinds:
        # every image of the goal can be taken
        if not any(fact.startswith("supports") and fact.endswith(f" {kind}") for fact in init):
            init.append(f"supports {rng.choice(tools)} {kind}")
    goal = [f"have_image {d} {m}" for d in observed for m in rng.sample(kinds, rng.randint(1, modes))]
    goal += [f"pointing {c} {rng.choice(directions)}" for c in crafts if rng.random() < 0.5]
    objects = [f"{c} - satellite" for c in crafts] + [f"{t} - instrument" for t in tools]
    objects += [f"{m} - mode" for m in kinds] + [f"{d} - direction" for d in directions]
    return objects, init, goal


def visitall(rng, side):
    """A grid with `side` blocked cells; half of the cells within reach are to be visited."""
    cells = [(x, y) for x in range(side) for y in range(side)]
    blocked = set(rng.sample(cells, side))
    free = [c for c in cells if c not in blocked]

    def neighbours(cell):
        x, y = cell
        return [c for c in [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)] if c in free]

    start = rng.choice(free)
    reached, stack = {start}, [start]
    while stack:
        for cell in neighbours(stack.pop()):
            if cell not in reached:
                reached.add(cell)
                stack.append(cell)

    def name(cell):
        return f"loc-x{cell[0]}-y{cell[1]}"

    init = [f"at-robot {name(start)}", f"visited {name(start)}"]
    init += [f"connected {name(a)} {name(b)}" for a in free for b in neighbours(a)]
    goal = rng.sample(sorted(reached), len(reached) // 2)
    return [f"{name(c)} - place" for c in free], init, [f"visited {name(c)}" for c in sorted(goal)]


GENERATORS = {f.__name__: f for f in (blocks, ferry, gripper, logistics, miconic, parking, satellite, visitall)}
DOMAIN_NAMES = {"blocks": "blocksworld-4ops", "gripper": "gripper-strips", "logistics": "logistics-strips",
                "visitall": "grid-visit-all"}


def generate(domain, size, seed):
    """The PDDL text of a problem; the same arguments give the same text."""
    rng = random.Random(f"{seed} {domain} {size}")
    objects, init, goal = GENERATORS[domain](rng, *size)
    label = "-".join(map(str, size))
    lines = [f"(define (problem {domain}-{label}-{seed})", f"  (:domain {DOMAIN_NAMES.get(domain, domain)})"]
    lines += ["  (:objects"] + [f"    {o}" for o in objects] + ["  )"]
    lines += ["  (:init"] + [f"    ({fact})" for fact in init] + ["  )"]
    lines += ["  (:goal (and"] + [f"    ({fact})" for fact in goal] + ["  ))", ")"]
    return "\n".join(lines) + "\n"


def write(folder, seed=1):
    """Write the generated problems; yields (name, group, domain file, problem file) of all problems."""
    for domain, sizes in SIZES.items():
        for size in sizes:
            name = f"{domain}-{'x'.join(map(str, size))}"
            path = Path(folder) / f"{name}.pddl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(generate(domain, size, seed))
            yield name, domain, INSTANCES / domain / "domain.pddl", path
    for name in COMPETITION:
        path = BENCHMARKS / f"{name}.pddl"
        yield name, "competition", path.parent / "domain.pddl", path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the generated problems go")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generators (default: %(default)s)")
    arguments = parser.parse_args()
    if REPOSITORY in arguments.folder.resolve().parents:
        sys.exit("the folder lies inside the repository; give another")
    for name, _, domain, problem in write(arguments.folder, arguments.seed):
        print(name, domain, problem)


if __name__ == "__main__":
    main()
