"""Things to make: drinks, sandwiches, orders, molecules and wooden parts."""

from shapes import names


def barman(rng, cocktail_count, ingredient_count, shot_count):
    """All cocktails, then random drinks, in the shots but the last; one shaker and two hands."""
    cocktails, shots = names("cocktail", cocktail_count, 1), names("shot", shot_count, 1)
    ingredients = names("ingredient", ingredient_count, 1)
    dispensers = names("dispenser", ingredient_count, 1)
    init = ["handempty left", "handempty right", "shaker-empty-level shaker1 l0",
            "shaker-level shaker1 l0", "next l0 l1", "next l1 l2"]
    for container in ["shaker1", *shots]:
        init += [f"ontable {container}", f"clean {container}", f"empty {container}"]
    init += [f"dispenses {a} {b}" for a, b in zip(dispensers, ingredients)]
    for cocktail in cocktails:
        a, b = rng.sample(ingredients, 2)
        init += [f"cocktail-part1 {cocktail} {a}", f"cocktail-part2 {cocktail} {b}"]
    drinks = cocktails + [rng.choice(cocktails + ingredients)
                          for _ in range(shot_count - 1 - cocktail_count)]
    objects = [("shaker", ["shaker1"]), ("hand", ["left", "right"]), ("shot", shots),
               ("ingredient", ingredients), ("cocktail", cocktails), ("dispenser", dispensers),
               ("level", names("l", 3))]
    return objects, init, [f"contains {shot} {drink}" for shot, drink in zip(shots, drinks)]


def childsnack(rng, child_count, tray_count):
    """Children at three tables, two in five of them allergic to gluten; bread and content for one
    sandwich each, and names for three sandwiches in ten more."""
    allergic_count = max(1, round(child_count * 0.4))
    children, trays = names("child", child_count, 1), names("tray", tray_count, 1)
    bread, content = names("bread", child_count, 1), names("content", child_count, 1)
    sandwiches, tables = names("sandw", round(child_count * 1.3), 1), names("table", 3, 1)
    init = [f"at {tray} kitchen" for tray in trays]
    init += [f"at_kitchen_bread {portion}" for portion in bread]
    init += [f"at_kitchen_content {portion}" for portion in content]
    init += [f"no_gluten_bread {portion}" for portion in rng.sample(bread, allergic_count)]
    init += [f"no_gluten_content {portion}" for portion in rng.sample(content, allergic_count)]
    allergic = rng.sample(children, allergic_count)
    init += [f"{'' if child in allergic else 'not_'}allergic_gluten {child}" for child in children]
    init += [f"waiting {child} {rng.choice(tables)}" for child in children]
    init += [f"notexist {sandwich}" for sandwich in sandwiches]
    objects = [("child", children), ("bread-portion", bread), ("content-portion", content),
               ("tray", trays), ("place", tables), ("sandwich", sandwiches)]
    return objects, init, [f"served {child}" for child in children]


def contents(rng, count, most):
    """For each order its products, mostly one to four, and for each product its orders; at most the
    given number in each."""
    products, orders = [set() for _ in range(count)], [set() for _ in range(count)]
    for order in range(count):
        for product in rng.sample(range(count), rng.randint(1, 4)):
            if len(orders[product]) < most:
                products[order].add(product)
                orders[product].add(order)
    for product in range(count):
        if not orders[product]:
            order = rng.choice([i for i in range(count) if len(products[i]) < most])
            products[order].add(product)
            orders[product].add(order)
    return products, orders


def openstacks(rng, count):
    """As many orders as products; drawn anew until no order is empty. No stack is open at first."""
    products, orders = contents(rng, count, 8)
    while not all(products):
        products, orders = contents(rng, count, 8)
    init = [f"next-count n{i} n{i + 1}" for i in range(count)] + ["stacks-avail n0"]
    for i in range(count):
        init += [f"waiting o{i}", f"not-made p{i}",
                 f"includes-{len(products[i])} o{i} " +
                 " ".join(f"p{product}" for product in sorted(products[i])),
                 f"included-by-{len(orders[i])} p{i} " +
                 " ".join(f"o{order}" for order in sorted(orders[i]))]
    objects = [("count", names("n", count + 1)), ("order", names("o", count)),
               ("product", names("p", count))]
    return objects, init, [f"shipped o{i}" for i in range(count)]


def pathways(rng, simple_count, complex_count, goals):
    """Reactions that make each complex molecule, in one way or two, from earlier ones. Each goal is
    one of two molecules; a quarter more simple molecules may be chosen than a greedy choice for all
    goals needs."""
    simple, complexes = names("s", simple_count), names("c", complex_count)
    init, molecules = [f"possible {x}" for x in simple], simple[:]
    needs = {x: {x} for x in simple}
    for new in complexes:
        for _ in range(1 if rng.random() < 0.75 else 2):
            late = rng.random() < 0.6
            a, b = rng.sample(molecules[-max(30, len(molecules) // 2):] if late else molecules, 2)
            kind = rng.random()
            if kind < 0.85:
                catalyzed = "" if kind < 0.6 else "catalyzed-"
                init.append(f"{catalyzed}association-reaction {a} {b} {new}")
                needed = needs[a] | needs[b]
            else:
                init.append(f"synthesis-reaction {a} {new}")
                needed = needs[a]
            if new not in needs or len(needed) < len(needs[new]):
                needs[new] = needed
        molecules.append(new)
    options = [x for x in complexes if 1 < len(needs[x]) <= max(8, simple_count // 5)]
    rng.shuffle(options)
    aims, chosen = names("g", min(goals, len(options) // 2)), set()
    for aim, a, b in zip(aims, options[::2], options[1::2]):
        init += [f"goal-option {aim} {a}", f"goal-option {aim} {b}"]
        chosen = min(chosen | needs[a], chosen | needs[b], key=len)
    most = int(len(chosen) * 1.25) + 1
    init += [f"next l{i} l{i + 1}" for i in range(most)] + [f"num-subs l{most}"]
    objects = [("simple", simple), ("complex", complexes), ("level", names("l", most + 1)),
               ("goal", aims)]
    return objects, init, [f"reached {aim}" for aim in aims]


WOODS = ["oak", "pine", "beech", "walnut", "cherry", "teak", "mahogany"]
COLOURS = ["red", "blue", "white", "black", "green", "mauve"]
MACHINES = ["grinder", "glazer", "immersion-varnisher", "planer", "highspeed-saw",
            "spray-varnisher", "saw"]


def board_lengths(rng, parts):
    """Boards that the parts of a wood, in random order, can be cut from with nothing left over."""
    rng.shuffle(parts)
    lengths, length, limit = [], 0, rng.randint(6, 10)
    for part in parts:
        if length + part > limit:
            lengths.append(length)
            length, limit = 0, rng.randint(6, 10)
        length += part
    return lengths + [length]


def woodworking(rng, part_count):
    """Parts of three sizes with random wishes. One in five is there already, treated at random; for
    the others there are boards a fifth longer than the parts packed into them."""
    woods, colours = WOODS[:2 + part_count // 6], COLOURS[:2 + part_count // 4]
    init = ["grind-treatment-change varnished colourfragments",
            "grind-treatment-change glazed untreated",
            "grind-treatment-change untreated untreated",
            "grind-treatment-change colourfragments untreated",
            "is-smooth smooth", "is-smooth verysmooth", "empty highspeed-saw0"]
    for machine in ("glazer0", "immersion-varnisher0", "spray-varnisher0"):
        init += [f"has-colour {machine} {colour}" for colour in [*colours, "natural"]]
    goal, needed, parts = [], {}, names("p", part_count)
    for part in parts:
        size, wood = rng.choice([1, 2, 3]), rng.choice(woods)
        init += [f"goalsize {part} {['small', 'medium', 'large'][size - 1]}",
                 f"= (spray-varnish-cost {part}) {5 * size}",
                 f"= (glaze-cost {part}) {5 + 5 * size}",
                 f"= (grind-cost {part}) {15 * size}", f"= (plane-cost {part}) {10 * size}"]
        treatment = rng.choice(["varnished", "glazed", None])
        colour = rng.choice([*colours, "natural"])
        surface = rng.choice(["smooth", "verysmooth"])
        goal += [f"available {part}", f"wood {part} {wood}"]
        if treatment:
            goal.append(f"treatment {part} {treatment}")
        if rng.random() < 0.7 and treatment:
            goal.append(f"colour {part} {colour}")
        if rng.random() < 0.8 or not treatment:
            goal.append(f"surface-condition {part} {surface}")
        if rng.random() < 0.2:
            init += [f"available {part}", f"wood {part} {wood}",
                     f"surface-condition {part} {rng.choice(['rough', 'smooth'])}",
                     f"treatment {part} {rng.choice(['varnished', 'glazed', 'colourfragments'])}",
                     f"colour {part} {rng.choice(colours)}"]
        else:
            init.append(f"unused {part}")
            needed.setdefault(wood, []).append(size)
    boards, longest = [], 0
    for wood, sizes in sorted(needed.items()):
        for length in board_lengths(rng, sizes):
            board, longer = f"b{len(boards)}", int(length * 1.2 + 0.5)
            boards.append(board)
            longest = max(longest, longer)
            init += [f"boardsize {board} s{longer}", f"wood {board} {wood}", f"available {board}",
                     f"surface-condition {board} {rng.choice(['rough', 'smooth'])}"]
    init += [f"boardsize-successor s{i} s{i + 1}" for i in range(longest)]
    objects = [(machine, [f"{machine}0"]) for machine in MACHINES]
    objects += [("acolour", colours), ("awood", woods), ("part", parts), ("board", boards),
                ("aboardsize", names("s", longest + 1))]
    return objects, init, goal


# Domain: its generator, the seed of the first problem (the next ones count on), and the sizes (the
# generator's arguments).
DOMAINS = {
    "barman14": (barman, 1401, [(4, 3, 6), (6, 3, 8), (8, 4, 10), (10, 4, 13), (13, 5, 17)]),
    "childsnack": (childsnack, 201, [(6, 2), (7, 3), (8, 3), (10, 3), (14, 3)]),
    "openstacks": (openstacks, 701, [(10,), (40,), (100,), (170,), (260,)]),
    "pathways": (pathways, 2401, [
        (20, 40, 4), (35, 90, 8), (45, 140, 14), (70, 280, 22), (110, 600, 40)]),
    "woodworking": (woodworking, 1101, [(6,), (12,), (18,), (24,), (34,)]),
}
