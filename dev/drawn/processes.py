"""Work of computers: scripts in a network, traces of processes, circuits of quantum gates."""

from shapes import names, pairs, rectangle


def data_network(rng, first_count, layers, script_count, server_count, largest):
    """Layers of scripts that each make one piece of data of two of the layer before (with two kept
    from further back); the goal is to save what no script uses. A server holds three to four times
    the largest size."""
    servers, init, sizes, scripts, used = names("server", server_count, 1), [], {}, [], set()

    def data():
        name = f"data-0-{len(sizes) + 1}"
        sizes[name] = rng.randint(1, largest)
        return name
    first = [data() for _ in range(first_count)]
    layer = first
    for _ in range(layers):
        made = []
        for _ in range(script_count):
            a, b = rng.sample(layer, 2)
            scripts.append(f"script{len(scripts) + 1}")
            made.append(data())
            used |= {a, b}
            init.append(f"script-io {scripts[-1]} {a} {b} {made[-1]}")
        layer = made + rng.sample(layer, 2)
    most, amounts = 4 * largest, range(1, largest + 1)
    init += [f"capacity {s} number{rng.randint(3 * largest, most)}" for s in servers]
    init += [f"data-size {name} number{size}" for name, size in sizes.items()]
    init += [f"sum number{a} number{b} number{a + b}" for a in range(most + 1) for b in amounts
             if a + b <= most]
    init += [f"less-equal number{a} number{b}" for a in range(most + 1)
             for b in range(a, most + 1)]
    lines = {(servers[i], servers[rng.randrange(i)]) for i in range(1, server_count)}
    while len(lines) < min(server_count * 1.3, server_count * (server_count - 1) // 2):
        a, b = rng.sample(servers, 2)
        if (b, a) not in lines:
            lines.add((a, b))
    for line in sorted(lines):
        cost = rng.randint(1, 10)
        for a, b in (line, line[::-1]):
            init.append(f"connected {a} {b}")
            init += [f"= (send-cost {a} {b} number{size}) {cost * size}" for size in amounts]
    for server in servers:
        cost, base = rng.randint(1, 5), rng.randint(5, 30)
        init.append(f"usage {server} number0")
        init += [f"= (io-cost {server} number{size}) {cost * size}" for size in amounts]
        init += [f"= (process-cost {script} {server}) {base + rng.randint(0, 20)}"
                 for script in scripts]
    init += [f"saved {name} {rng.choice(servers)}" for name in first]
    goal = [f"saved {name} {rng.choice(servers)}" for name in sizes
            if name not in used and name not in first]
    objects = [("data", list(sizes)), ("script", scripts), ("server", servers),
               ("numbers", names("number", most + 1))]
    return objects, init, goal


class Net:
    """A Petri net of a random process: parts in sequence, a choice, parts at once, or a loop."""

    def __init__(self, rng, size):
        self.rng, self.places, self.hidden, self.arcs = rng, 0, [], []
        self.start, self.end = self.place(), self.place()
        self.tree = self.build(size, self.start, self.end)

    def place(self):
        self.places += 1
        return f"p{self.places}"

    def transition(self, inputs, outputs, hidden=True):
        name = f"t{len(self.hidden)}"
        self.hidden.append(hidden)
        self.arcs.append(f"arc{len(inputs)}{len(outputs)} {' '.join([name, *inputs, *outputs])}")
        return name

    def build(self, size, start, end):
        """A net from one place to another with that many visible transitions, as a tree of (kind,
        first part, second part) with names of transitions as leaves."""
        if size <= 1:
            return self.transition([start], [end], hidden=False)
        kind = self.rng.choice(["sequence", "sequence", "choice", "both", "both", "loop"])
        part = self.rng.randint(1, size - 1)
        if kind == "sequence":
            middle = self.place()
            ends = (start, middle), (middle, end)
        elif kind == "choice":
            ends = (start, end), (start, end)
        elif kind == "both":
            start1, start2, end1, end2 = (self.place() for _ in range(4))
            self.transition([start], [start1, start2])
            self.transition([end1, end2], [end])
            ends = (start1, end1), (start2, end2)
        else:
            before, after = self.place(), self.place()
            self.transition([start], [before])
            ends = (before, after), (after, before)
        first = self.build(part, *ends[0])
        if kind == "loop":
            self.transition([after], [end])
        return kind, first, self.build(size - part, *ends[1])

    def play(self, tree):
        """The visible transitions of a random run, in order."""
        if isinstance(tree, str):
            return [tree]
        kind, first, second = tree
        if kind == "sequence":
            return self.play(first) + self.play(second)
        if kind == "choice":
            return self.play(self.rng.choice([first, second]))
        if kind == "both":
            return self.shuffled(self.play(first), self.play(second))
        run = self.play(first)
        while self.rng.random() < 0.3 and len(run) < 200:
            run += self.play(second) + self.play(first)
        return run

    def shuffled(self, first, second):
        """Two runs at once, each in its own order."""
        run = []
        while first or second:
            share = len(first) / (len(first) + len(second))
            own = first and (not second or self.rng.random() < share)
            run.append((first if own else second).pop(0))
        return run


def petri_net_alignment(rng, size, noise):
    """A random process, and a trace of it with some events inserted, left out or swapped."""
    net = Net(rng, size)
    trace = net.play(net.tree)
    visible = [f"t{i}" for i, hidden in enumerate(net.hidden) if not hidden]
    for _ in range(noise):
        kind, index = rng.randrange(3), rng.randrange(len(trace))
        if kind == 0:
            trace.insert(index, rng.choice(visible))
        elif kind == 1 and len(trace) > 2:
            trace.pop(index)
        elif index + 1 < len(trace):
            trace[index], trace[index + 1] = trace[index + 1], trace[index]
    events, places = names("ev", len(trace) + 1), names("p", net.places, 1)
    init = [f"token {net.start}", "trace-pointer ev0"]
    init += [f"trace-next {a} {b}" for a, b in zip(events, events[1:])]
    init += [f"label {event} {transition}" for event, transition in zip(events, trace)]
    init += [f"{'invisible' if hidden else 'visible'} t{i}" for i, hidden in enumerate(net.hidden)]
    goal = [f"token {net.end}", f"trace-pointer {events[-1]}"]
    goal += [f"not (token {place})" for place in places if place != net.end]
    objects = [("place", places), ("transition", names("t", len(net.hidden))), ("event", events)]
    return objects, init + net.arcs, goal


def quantum_layout(rng, width, height, logical_count, gate_count):
    """Random gates between two logical qubits each; the physical qubits form a grid."""
    def physical(cell):
        return f"p{cell[0]}-{cell[1]}"
    cells, init = rectangle(width, height), []
    logical, gates = names("l", logical_count), names("g", gate_count)
    follows = {qubit: [] for qubit in logical}
    for gate in gates:
        a, b = rng.sample(logical, 2)
        follows[a].append(gate)
        follows[b].append(gate)
        init.append(f"cnot {gate} {a} {b}")
    for qubit, own in follows.items():
        own.append("end")
        init.append(f"current {qubit} {own[0]}")
        init += [f"follows {qubit} {a} {b}" for a, b in zip(own, own[1:])]
    init += [f"connected {physical(a)} {physical(b)}" for a, b in pairs(cells)]
    objects = [("pqubit", [physical(cell) for cell in cells]), ("lqubit", logical),
               ("gate", [*gates, "end"])]
    return objects, init, [f"done {gate}" for gate in gates]


# Domain: its generator, the seed of the first problem (the next ones count on), and the sizes (the
# generator's arguments).
DOMAINS = {
    "data_network": (data_network, 501, [
        (4, 3, 3, 3, 3), (6, 3, 4, 3, 4), (8, 4, 5, 4, 4), (10, 4, 6, 4, 4), (12, 5, 7, 5, 5)]),
    "petri_net_alignment": (petri_net_alignment, 1201, [
        (20, 3), (80, 10), (300, 30), (1200, 80), (6000, 200)]),
    "quantum_layout": (quantum_layout, 2101, [
        (3, 2, 4, 12), (4, 4, 8, 40), (5, 4, 14, 90), (7, 5, 24, 200), (9, 8, 50, 500)]),
}
