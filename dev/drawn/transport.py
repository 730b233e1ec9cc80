"""Things to carry by trucks, aeroplanes, hoists or cars."""

import math

from shapes import names, pairs, rectangle


def depot(rng, depot_count, distributor_count, truck_count, pallet_count, hoist_count, crate_count):
    """Crates stacked at random on pallets, and 85 % of them stacked anew at random for the goal.
    Each place has a pallet and, as far as they go, a hoist; the other ones stand anywhere."""
    depots, distributors = names("depot", depot_count), names("distributor", distributor_count)
    places = depots + distributors
    trucks, pallets = names("truck", truck_count), names("pallet", pallet_count)
    hoists, crates = names("hoist", hoist_count), names("crate", crate_count)

    def spread(index):
        return places[index] if index < len(places) else rng.choice(places)

    def stacked(some):
        """For each crate what it stands on and where; and what is on top of each pallet."""
        top, on = {pallet: pallet for pallet in pallets}, []
        for crate in some:
            pallet = rng.choice(pallets)
            on.append((crate, top[pallet], stands[pallet]))
            top[pallet] = crate
        return on, top
    stands = {pallet: spread(i) for i, pallet in enumerate(pallets)}
    init = [f"at {pallet} {place}" for pallet, place in stands.items()]
    init += [f"at {truck} {rng.choice(places)}" for truck in trucks]
    for i, hoist in enumerate(hoists):
        init += [f"at {hoist} {spread(i)}", f"available {hoist}"]
    start, top = stacked(crates)
    for crate, below, place in start:
        init += [f"on {crate} {below}", f"at {crate} {place}"]
    init += [f"clear {surface}" for surface in top.values()]
    order = crates[:]
    rng.shuffle(order)
    end, _ = stacked(order[:int(crate_count * 0.85)])
    objects = [("depot", depots), ("distributor", distributors), ("truck", trucks),
               ("pallet", pallets), ("crate", crates), ("hoist", hoists)]
    return objects, init, [f"on {crate} {below}" for crate, below, _ in end]


def hiking(_, couple_count, car_count, place_count):
    """Couples at the first of a row of places, to walk to the last; nothing about it is random."""
    couples, cars = names("couple", couple_count), names("car", car_count)
    tents, places = names("tent", couple_count), names("place", place_count)
    men, women = names("guy", couple_count), names("girl", couple_count)
    init = []
    for i, (couple, man, woman, tent) in enumerate(zip(couples, men, women, tents)):
        init += [f"partners {couple} {man} {woman}", f"at_person {man} place0",
                 f"at_person {woman} place0", f"walked {couple} place0", f"at_tent {tent} place0",
                 f"{'up' if i % 2 else 'down'} {tent}"]
    init += [f"at_car {car} place0" for car in cars]
    init += [f"next {a} {b}" for a, b in zip(places, places[1:])]
    objects = [("car", cars), ("tent", tents), ("person", men + women), ("couple", couples),
               ("place", places)]
    return objects, init, [f"walked {couple} {places[-1]}" for couple in couples]


def logistics(rng, city_count, places_each, package_count, plane_count):
    """Cities with an airport, some other places and one to three trucks each; packages from
    anywhere to anywhere."""
    init, goal, places, others = [], [], [], []
    for city in range(city_count):
        others.append(f"city{city}")
        init.append(f"city city{city}")
        truck_count = rng.randint(1, 3)
        here = names(f"loc{city}-", places_each)
        places += here
        init.append(f"airport {here[0]}")
        for place in here:
            init += [f"location {place}", f"in-city {place} city{city}"]
        for truck in names(f"truck{city}-", truck_count):
            others.append(truck)
            init += [f"truck {truck}", f"at {truck} {rng.choice(here)}"]
    for plane in names("plane", plane_count):
        others.append(plane)
        init += [f"airplane {plane}", f"at {plane} loc{rng.randrange(city_count)}-0"]
    for package in names("pkg", package_count):
        others.append(package)
        init += [f"obj {package}", f"at {package} {rng.choice(places)}"]
        goal.append(f"at {package} {rng.choice(places)}")
    return [(None, others + places)], init, goal


def mprime(rng, place_count, vehicle_count, cargo_count, goals, most_fuel):
    """Places on a ring with further roads, each with some fuel; vehicles with room for one to three
    cargoes. Cargoes delivered in a random play of the actions give the goal, so that it can be
    reached. (The roads of a place are in the order of a set of pairs of numbers, which Python keeps
    the same from run to run.)"""
    roads = set()
    for a in range(place_count):
        for b in [(a + 1) % place_count] + rng.sample(range(place_count), 2):
            if a != b:
                roads |= {(a, b), (b, a)}
    near = {place: [b for a, b in roads if a == place] for place in range(place_count)}
    fuel = [rng.randint(1, most_fuel) for _ in range(place_count)]
    room = [rng.randint(1, 3) for _ in range(vehicle_count)]
    stands = [rng.randrange(place_count) for _ in range(vehicle_count)]
    lies = [rng.randrange(place_count) for _ in range(cargo_count)]
    init = [f"eats food{a} food{b}" for a, b in sorted(roads)]
    init += [f"craves pleasure{i} food{place}" for i, place in enumerate(stands)]
    init += [f"craves pain{i} food{place}" for i, place in enumerate(lies)]
    init += [f"locale food{i} prov{amount}" for i, amount in enumerate(fuel)]
    init += [f"harmony pleasure{i} planet{amount}" for i, amount in enumerate(room)]
    init += [f"attacks prov{i} prov{i + 1}" for i in range(most_fuel)]
    init += [f"orbits planet{i} planet{i + 1}" for i in range(3)]
    carrier, delivered = [None] * cargo_count, []
    for _ in range(60 * place_count):
        vehicle, kind = rng.randrange(vehicle_count), rng.random()
        here = stands[vehicle]
        if kind < 0.4:
            if fuel[here] > 0:
                fuel[here] -= 1
                stands[vehicle] = rng.choice(near[here])
            elif rng.random() < 0.5:
                givers = [i for i in range(place_count) if fuel[i] > 1 and i != here]
                if givers:
                    fuel[rng.choice(givers)] -= 1
                    fuel[here] += 1
        elif kind < 0.7:
            waiting = [i for i in range(cargo_count)
                       if carrier[i] is None and lies[i] == here and i not in delivered]
            if waiting and room[vehicle]:
                carrier[rng.choice(waiting)] = vehicle
                room[vehicle] -= 1
        else:
            aboard = [i for i in range(cargo_count) if carrier[i] == vehicle and lies[i] != here]
            if aboard and rng.random() < 0.5:
                cargo = rng.choice(aboard)
                carrier[cargo], lies[cargo] = None, here
                room[vehicle] += 1
                delivered.append(cargo)
    objects = [("food", names("food", place_count)), ("pleasure", names("pleasure", vehicle_count)),
               ("pain", names("pain", cargo_count)), ("province", names("prov", most_fuel + 1)),
               ("planet", names("planet", 4))]
    return objects, init, [f"craves pain{i} food{lies[i]}" for i in delivered[:goals]]


def shortest(count, roads):
    """The lengths of the shortest ways between all places."""
    far = [[0 if a == b else math.inf for b in range(count)] for a in range(count)]
    for (a, b), length in roads.items():
        far[a][b] = far[b][a] = length
    for middle in range(count):
        for a in range(count):
            for b in range(count):
                far[a][b] = min(far[a][b], far[a][middle] + far[middle][b])
    return far


def tour(rng, far, packages, start, limit):
    """The length of a greedy tour with some chance in it that delivers all packages; the limit when
    it would be longer."""
    here, length, waiting, aboard = start, 0, set(range(len(packages))), set()
    while waiting or aboard:
        useful = {packages[i][0] for i in waiting} | {packages[i][1] for i in aboard}
        place = min(sorted(useful), key=lambda i: far[here][i] * rng.uniform(0.5, 1.6))
        length += far[here][place]
        here = place
        if length >= limit:
            return limit
        aboard = {i for i in aboard if packages[i][1] != here}
        loaded = {i for i in waiting if packages[i][0] == here}
        aboard |= loaded
        waiting -= loaded
    return length


def nomystery(rng, place_count, package_count, factor, longest):
    """A connected map with half as many roads again as places; the truck's fuel is the shortest of
    20000 tours, times the factor."""
    roads = {}
    for b in range(1, place_count):
        length = rng.randint(1, longest)
        roads[rng.randrange(b), b] = length
    while len(roads) < place_count * 1.5:
        a, b = sorted(rng.sample(range(place_count), 2))
        roads[a, b] = rng.randint(1, longest)
    far = shortest(place_count, roads)
    packages = [rng.sample(range(place_count), 2) for _ in range(package_count)]
    start, best = rng.randrange(place_count), math.inf
    for _ in range(20000):
        best = tour(rng, far, packages, start, best)
    fuel = int(best * factor)
    init = [f"at t0 l{start}", f"fuel t0 level{fuel}"]
    init += [f"at p{i} l{a}" for i, (a, _) in enumerate(packages)]
    for (a, b), length in roads.items():
        init += [f"connected l{a} l{b}", f"connected l{b} l{a}",
                 f"fuelcost level{length} l{a} l{b}", f"fuelcost level{length} l{b} l{a}"]
    init += [f"sum level{left} level{length} level{left + length}"
             for length in sorted(set(roads.values())) for left in range(fuel - length + 1)]
    objects = [("truck", ["t0"]), ("package", names("p", package_count)),
               ("location", names("l", place_count)), ("fuellevel", names("level", fuel + 1))]
    return objects, init, [f"at p{i} l{b}" for i, (_, b) in enumerate(packages)]


def storage(rng, depot_count, width, height, hoist_count, spare):
    """Empty depots of equal size and, in containers of four outside, crates for all of their areas
    but the spare ones; the first depots have a hoist each."""
    init, areas, depots = [], [], names("depot", depot_count)
    for i, name in enumerate(depots):
        cells = rectangle(width, height)
        area = {(x, y): f"{name}-{x + 1}-{y + 1}" for x, y in cells}
        areas += area.values()
        init += [f"in {a} {name}" for a in area.values()]
        init += [f"connected {area[a]} {area[b]}" for a, b in pairs(cells)]
        entrance = area[rng.randrange(width), 0]
        init += [f"connected {entrance} loadarea", f"connected loadarea {entrance}"]
        hoist = area[rng.choice(cells)] if i < hoist_count else None
        if hoist:
            init += [f"at hoist{i} {hoist}", f"available hoist{i}"]
        init += [f"clear {a}" for a in area.values() if a != hoist]
    ends = [name for name in depots for _ in range(width * height - spare)]
    rng.shuffle(ends)
    crates, containers = names("crate", len(ends)), names("container", math.ceil(len(ends) / 4))
    for i, crate in enumerate(crates):
        container, area = f"container{i // 4}", f"container-{i // 4}-{i % 4}"
        areas.append(area)
        init += [f"on {crate} {area}", f"in {crate} {container}", f"in {area} {container}",
                 f"connected {area} loadarea", f"connected loadarea {area}"]
    init += [f"compatible {a} {b}" for a in crates[:6] for b in crates[:6] if a != b]
    objects = [("storearea", areas), ("hoist", names("hoist", hoist_count)), ("crate", crates),
               ("container", containers), ("depot", depots), ("transitarea", ["loadarea"])]
    return objects, init, [f"in {crate} {end}" for crate, end in zip(crates, ends)]


def roads_of_city(rng, places):
    """Roads between places at random points: a shortest spanning tree, and from each place to the
    three nearest ones."""
    points = [(rng.randrange(1000), rng.randrange(1000)) for _ in places]
    everywhere = range(len(places))

    def length(a, b):
        return math.ceil(math.dist(points[a], points[b]) / 10)
    roads, joined = {}, {0}
    while len(joined) < len(places):
        far, a, b = min((length(a, b), a, b) for a in joined for b in everywhere
                        if b not in joined)
        joined.add(b)
        roads[places[a], places[b]] = far
    for a in everywhere:
        for b in sorted(everywhere, key=lambda b, a=a: length(a, b))[1:4]:
            if (places[b], places[a]) not in roads:
                roads[places[a], places[b]] = length(a, b)
    return roads


def transport(rng, city_count, places_each, vehicle_count, package_count):
    """Cities joined by long roads; vehicles with room for two to four packages."""
    places, roads = [], {}
    for city in range(city_count):
        here = names(f"city-{city + 1}-loc-", places_each, 1)
        roads.update(roads_of_city(rng, here))
        if city:
            length = rng.randint(200, 300)
            roads[rng.choice(here), rng.choice(places)] = length
        places += here
    init, goal = [], []
    for (a, b), length in roads.items():
        init += [f"road {a} {b}", f"road {b} {a}", f"= (road-length {a} {b}) {length}",
                 f"= (road-length {b} {a}) {length}"]
    init += [f"capacity-predecessor capacity-{i} capacity-{i + 1}" for i in range(4)]
    vehicles, packages = names("truck-", vehicle_count, 1), names("package-", package_count, 1)
    for vehicle in vehicles:
        init += [f"at {vehicle} {rng.choice(places)}",
                 f"capacity {vehicle} capacity-{rng.randint(2, 4)}"]
    for package in packages:
        a, b = rng.sample(places, 2)
        init.append(f"at {package} {a}")
        goal.append(f"at {package} {b}")
    objects = [("location", places), ("vehicle", vehicles), ("package", packages),
               ("capacity-number", names("capacity-", 5))]
    return objects, init, goal


def deliveries(rng, packages, start, areas, limit):
    """When each package is delivered in a random play of one truck, in drives, and the number of
    drives; None when there would be as many as the limit. Packages in the way are unloaded and
    loaded again, which takes no time."""
    here, time, aboard, waiting, delivered = start, 0, [], list(range(len(packages))), {}
    while time < limit:
        ready = True
        while ready:
            delivered.update((i, time) for i in aboard if packages[i][1] == here)
            aboard = [i for i in aboard if packages[i][1] != here]
            ready = [i for i in waiting if packages[i][0] == here] if len(aboard) < areas else []
            if ready:
                package = rng.choice(ready)
                waiting.remove(package)
                aboard.append(package)
        if not waiting and not aboard:
            return delivered, time
        useful = [packages[i][1] for i in aboard]
        if len(aboard) < areas:
            useful += [packages[i][0] for i in waiting]
        here = rng.choice(useful)
        time += 1
    return None


def trucks(rng, place_count, truck_count, area_count, package_count, slack):
    """Packages of which about three in five have a deadline: when the best of 3000 plays of the
    first truck delivers them, and some slack."""
    places = names("l", place_count, 1)
    packages = [rng.sample(places, 2) for _ in range(package_count)]
    starts = [rng.choice(places) for _ in range(truck_count)]
    best, drives = {}, 999
    for _ in range(3000):
        found = deliveries(rng, packages, starts[0], area_count, drives)
        if found:
            best, drives = found
    end = drives + slack
    init = [f"next t{i} t{i + 1}" for i in range(end)] + ["time-now t0"]
    init += [f"le t{a} t{b}" for a in range(end + 1) for b in range(max(a, 1), end + 1)]
    init += [f"connected {a} {b}" for a in places for b in places if a != b]
    vehicles, areas = names("truck", truck_count, 1), names("a", area_count)
    for vehicle, start in zip(vehicles, starts):
        init += [f"at {vehicle} {start}"] + [f"free {area} {vehicle}" for area in areas]
    init += [f"access-{i} {' '.join([area, *areas[:i]])}" for i, area in enumerate(areas)]
    goal = []
    for i, (a, b) in enumerate(packages):
        init.append(f"at package{i + 1} {a}")
        if rng.random() < 0.6:
            deadline = min(end, max(1, best[i]) + slack)
            goal.append(f"delivered package{i + 1} {b} t{deadline}")
        else:
            goal.append(f"at-destination package{i + 1} {b}")
    objects = [("truck", vehicles), ("package", names("package", package_count, 1)),
               ("location", places), ("time", names("t", end + 1)), ("truckarea", areas)]
    return objects, init, goal


# Domain: its generator, the seed of the first problem (the next ones count on), and the sizes (the
# generator's arguments).
DOMAINS = {
    "depot_large": (depot, 2001, [
        (2, 2, 2, 5, 4, 8), (3, 3, 3, 8, 6, 12), (3, 3, 4, 10, 8, 18), (4, 4, 4, 12, 8, 26),
        (6, 6, 5, 18, 14, 45)]),
    "hiking": (hiking, 1, [(2, 2, 5), (2, 3, 8), (3, 3, 6), (3, 3, 8), (4, 3, 8)]),
    "logistics98": (logistics, 1301, [
        (10, 5, 20, 4), (13, 5, 26, 4), (17, 6, 32, 4), (20, 7, 40, 5), (28, 8, 55, 7)]),
    "mprime": (mprime, 1001, [
        (8, 3, 8, 2, 5), (12, 4, 18, 4, 5), (18, 6, 30, 8, 5), (26, 8, 60, 14, 6),
        (40, 12, 100, 24, 6)]),
    "nomystery_large": (nomystery, 1701, [
        (8, 8, 1.5, 10), (11, 11, 1.3, 12), (11, 11, 1.5, 12), (13, 13, 1.3, 15),
        (15, 15, 1.1, 20)]),
    "storage": (storage, 801, [
        (1, 2, 3, 1, 2), (2, 2, 3, 2, 3), (1, 3, 3, 1, 3), (2, 3, 3, 2, 5), (2, 3, 3, 2, 4)]),
    "transport14": (transport, 1601, [
        (1, 20, 3, 8), (2, 25, 4, 14), (3, 20, 4, 20), (3, 22, 4, 24), (4, 35, 6, 40)]),
    "trucks": (trucks, 2501, [
        (3, 1, 2, 4, 1), (4, 1, 2, 6, 2), (4, 1, 3, 8, 1), (5, 2, 3, 10, 1), (5, 2, 4, 14, 1)]),
}
