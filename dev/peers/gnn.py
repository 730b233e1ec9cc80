"""The graph network in homing and in PyTorch: the same weights, the same states, one thread each.

    python3 dev/peers/gnn.py --homing target/release/homing --example target/release/examples/gnn_peer

Needs PyTorch. For each domain it draws training problems of the paper's suite, lets the example play
episodes, and times (CPU seconds, the best of five) one update over the steps kept (forward, backward,
Adam) and one evaluation of each of them, alone and 64 at a time. PyTorch computes the network as its
definition says, over all edges, all graphs of a batch in one matrix. The two must agree in the sum of
values, the sum of logits and the error of V before the update; the script fails where they do not.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import torch
import torch.nn.functional as F

DOMAINS = ["blocks", "ferry", "gripper", "visitall"]


class Batch:
    """Graphs one behind the other, as tensors."""

    def __init__(self, graphs):
        nodes, globals_, src, dst, edges, graph_of = [], [], [], [], [], []
        places = []  # of each edge, by (graph, x, y)
        self.action_graph, self.picks, actions, effects = [], [], 0, {0: [], 1: [], 2: []}
        at_node = at_edge = 0
        for number, graph in enumerate(graphs):
            nodes += graph["nodes"]
            globals_.append(graph["global"])
            n = len(graph["nodes"])
            graph_of += [number] * n
            place = {}
            for x, y, row in zip(*graph["edges"]):
                place[x, y] = at_edge
                src.append(x + at_node)
                dst.append(y + at_node)
                edges.append(row)
                at_edge += 1
            self.picks.append(actions + graph["pick"])
            for action in graph["actions"]:
                self.action_graph.append(number)
                for arity, predicate, sign, x, y in action:
                    effects[arity].append((actions, predicate, sign, number, x + at_node, y + at_node,
                                           place[x, y] if arity == 2 else 0))
                actions += 1
            at_node += n
        tensor = torch.tensor
        self.graphs, self.actions = len(graphs), actions
        self.nodes, self.globals, self.edges = tensor(nodes), tensor(globals_), tensor(edges)
        self.src, self.dst, self.graph_of = tensor(src), tensor(dst), tensor(graph_of)
        self.sizes = torch.bincount(self.graph_of, minlength=len(graphs)).clamp(min=1).unsqueeze(1)
        self.action_graph, self.picks = tensor(self.action_graph), tensor(self.picks)
        self.effects = {}
        for arity, rows in effects.items():
            if rows:
                columns = list(zip(*rows))
                self.effects[arity] = [tensor(c) for c in (columns[0], columns[1])] + [
                    tensor(columns[2])] + [tensor(c) for c in columns[3:]]
        self.logs = tensor([graph["log"] for graph in graphs])
        self.worths = tensor([graph["worth"] for graph in graphs])
        self.values = tensor([graph["value"] for graph in graphs])


class Network(torch.nn.Module):
    def __init__(self, parameters):
        super().__init__()
        self.names = {}
        for name, shape, values in parameters:
            key = name.replace(".", "_")
            self.register_parameter(key, torch.nn.Parameter(torch.tensor(values).reshape(shape)))
        self.width = self.value_first_weight.shape[0]

    def linear(self, name, x):
        return x @ getattr(self, name + "_weight") + getattr(self, name + "_bias")

    def block(self, name, v, e, u, batch):
        e = F.relu(self.linear(name + "_edge", torch.cat([v[batch.src], e], 1)))
        message = self.linear(name + "_message", torch.cat([v[batch.dst], e], 1))
        index = batch.src.unsqueeze(1).expand_as(message)
        most = torch.zeros(v.shape[0], self.width).scatter_reduce(
            0, index, message, "amax", include_self=False)
        v = F.relu(self.linear(name + "_node", torch.cat([most, u[batch.graph_of]], 1)))
        mean = torch.zeros(batch.graphs, self.width).index_add(0, batch.graph_of, v) / batch.sizes
        u = F.relu(self.linear(name + "_global", torch.cat([u, mean], 1)))
        return v, e, u

    def effect(self, name, inputs, predicate, sign):
        one = F.one_hot(predicate, getattr(self, f"policy_{name}_predicate").shape[0]) * sign.unsqueeze(1)
        weights = [getattr(self, f"policy_{name}_of").T]
        if len(inputs) == 2:
            weights.append(self.policy_ends_to.T)
        weights.append(getattr(self, f"policy_{name}_predicate"))
        return torch.cat([*inputs, one], 1) @ torch.cat(weights) + getattr(self, f"policy_{name}_bias")

    def forward(self, batch):
        v, e, u = self.block("first", batch.nodes, batch.edges, batch.globals, batch)
        v2, e2, u2 = self.block("second", v, e, u, batch)
        v, e, u = v + v2, e + e2, u + u2
        value = torch.sigmoid(self.linear("value_last", F.relu(self.linear("value_first", u)))).squeeze(1)
        total = torch.zeros(batch.actions, self.width)
        for arity, (action, predicate, sign, graph, x, y, edge) in batch.effects.items():
            if arity == 0:
                out = self.effect("nullary", [u[graph]], predicate, sign)
            elif arity == 1:
                out = self.effect("unary", [v[x]], predicate, sign)
            else:
                inner = self.effect("ends", [v[x], v[y]], predicate, sign)
                weight = torch.cat([self.policy_binary_edge.T, self.policy_binary_ends.T])
                out = torch.cat([e[edge], inner], 1) @ weight + self.policy_binary_bias
            total = total.index_add(0, action, out)
        logits = 10 * torch.tanh(total @ self.policy_last_weight.T + self.policy_last_bias).squeeze(1)
        return value, logits


def loss_of(network, batch):
    value, logits = network(batch)
    most = torch.full((batch.graphs,), -1e9).scatter_reduce(0, batch.action_graph, logits.detach(), "amax")
    total = torch.zeros(batch.graphs).index_add(
        0, batch.action_graph, torch.exp(logits - most[batch.action_graph]))
    log = logits[batch.picks] - most - torch.log(total)
    ratio = torch.exp(log - batch.logs)
    advantage = batch.worths - batch.values
    surrogate = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    error = (value - batch.worths) ** 2
    return surrogate.mean() + error.mean() + 0.01 * log.mean(), error.mean()


def cpu(work):
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def pytorch(data):
    graphs = data["graphs"]
    network = Network(data["parameters"])
    batch = Batch(graphs)
    singles = [Batch([graph]) for graph in graphs]
    some = [Batch(graphs[at:at + 64]) for at in range(0, len(graphs), 64)]

    def run(batches):
        with torch.no_grad():
            return [network(one) for one in batches]

    found = run(some)
    result = {
        "values": sum(float(v.double().sum()) for v, _ in found),
        "logits": sum(float(l.double().sum()) for _, l in found),
        "evaluation_seconds": cpu(lambda: run(some)),
        "alone_seconds": cpu(lambda: run(singles)),
    }
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-5)
    errors = []

    def update():
        adam.zero_grad()
        loss, error = loss_of(network, batch)
        loss.backward()
        adam.step()
        errors.append(float(error))

    result["update_seconds"] = cpu(update)
    result["value_error"] = errors[0]
    return result


def close(a, b):
    return abs(a - b) <= 1e-3 * max(1.0, abs(a), abs(b))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--homing", default="target/release/homing")
    parser.add_argument("--example", default="target/release/examples/gnn_peer")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--domains", nargs="*", default=DOMAINS)
    parser.add_argument("--out", help="write all numbers to this file as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = {}
    print("| domain | states | objects | update: homing | PyTorch | times | evaluation, 64 at a time: "
          "homing | PyTorch | times | alone: homing | PyTorch | times |")
    print("|---" + "|---:" * 11 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for domain in options.domains:
            suite = pathlib.Path(folder, domain)
            subprocess.run([options.homing, "generate", "--suite", "paper-train", "--domain", domain,
                            "--out", str(suite)], check=True, capture_output=True)
            place = next(suite.rglob("domain.pddl")).parent
            problems = sorted(str(p) for p in place.glob("*.pddl") if p.name != "domain.pddl")
            out = pathlib.Path(folder, f"{domain}.json")
            ours = subprocess.run(
                [options.example, str(place / "domain.pddl"), str(options.width), str(options.steps),
                 str(out), *problems[:: max(1, len(problems) // 40)]],
                check=True, capture_output=True, text=True)
            ours = json.loads(ours.stdout)
            data = json.loads(out.read_text())
            theirs = pytorch(data)
            for name in ["values", "logits", "value_error"]:
                if not close(ours[name], theirs[name]):
                    raise SystemExit(f"{domain}: {name} differ: {ours[name]} and {theirs[name]}")
            states = len(data["graphs"])
            objects = sum(len(graph["nodes"]) for graph in data["graphs"]) / states
            cells = [domain, str(states), f"{objects:.1f}"]
            for name, unit in [("update_seconds", states), ("evaluation_seconds", states),
                               ("alone_seconds", states)]:
                a, b = ours[name] / unit * 1e6, theirs[name] / unit * 1e6
                cells += [f"{a:.0f}", f"{b:.0f}", f"{b / a:.1f}"]
            print("| " + " | ".join(cells) + " |", flush=True)
            rows[domain] = {"homing": ours, "pytorch": theirs, "states": states, "objects": objects}
    print("\nMicroseconds of CPU time a state.")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(
            {"torch": torch.__version__, "width": options.width, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
