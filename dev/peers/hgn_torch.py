#!/usr/bin/env python3
"""One training step and one evaluation of the hypergraph network in PyTorch, beside homing's.

    cargo run --release -p homing-learner --example hgn_step -- DOMAIN PROBLEM graph.json
    python3 dev/peers/hgn_torch.py graph.json [graph.json ...]

Needs `torch` (PyPI). The network is written as its authors describe it, with concatenated inputs
and index_add, one thread, the same weights: estimate, loss and gradient must agree before times
are compared. Times are CPU seconds, the least of five means.
"""

import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
SLOPE = 0.01


class Network(nn.Module):
    """The weights by name, as homing's model files have them (inputs by outputs)."""

    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleDict()
        for name in {key.rsplit(".", 1)[0] for key in weights}:
            weight = weights[name + ".weight"]
            inputs, outputs = weight["shape"]
            layer = nn.Linear(inputs, outputs)
            with torch.no_grad():
                layer.weight.copy_(torch.tensor(weight["values"]).view(inputs, outputs).T)
                layer.bias.copy_(torch.tensor(weights[name + ".bias"]["values"]))
            self.layers[name.replace(".", "_")] = layer

    def both(self, name, x):
        x = F.leaky_relu(self.layers[name + "_0"](x), SLOPE)
        return F.leaky_relu(self.layers[name + "_1"](x), SLOPE)

    def forward(self, graph, last):
        edges0 = self.both("encode_edge", graph["edge_features"])
        nodes0 = self.both("encode_node", graph["node_features"])
        edges, nodes = edges0, nodes0
        count, places = graph["places"].shape
        estimates = []
        for turn in range(graph["rounds"]):
            both = torch.cat([nodes0, nodes], 1)
            # A row of zeros for places that are empty.
            padded = torch.cat([both, both.new_zeros(1, both.shape[1])])
            gathered = padded[graph["places"].reshape(-1)].view(count, -1)
            edges = self.both("edge", torch.cat([edges0, edges, gathered], 1))
            sent = torch.zeros_like(nodes).index_add(0, graph["to"], edges[graph["from"]])
            nodes = self.both("node", torch.cat([sent, both], 1))
            if last and turn + 1 < graph["rounds"]:
                continue
            whole = self.both("global", torch.cat([edges.sum(0), nodes.sum(0)])[None])
            decoded = self.both("decode", whole)
            estimates.append(F.relu(self.layers["output"](decoded)))
        return torch.cat(estimates)


def load(path):
    data = json.load(open(path))
    nodes, edges = data["nodes"], data["edges"]
    receivers = data["receivers"]
    places = torch.tensor(data["places"], dtype=torch.long).view(edges, -1)
    places[places == 2**32 - 1] = nodes
    into = places[:, :receivers]
    pairs = (into < nodes).nonzero()
    kinds = torch.tensor(data["kinds"])
    graph = {
        "rounds": data["rounds"],
        "places": places,
        "from": pairs[:, 0],
        "to": into[pairs[:, 0], pairs[:, 1]],
        "edge_features": torch.tensor([[1.0, s, r] for s, r in data["shapes"]]),
        "node_features": torch.stack([(kinds & 1).float(), (kinds >> 1).float()], 1),
    }
    return data, graph


def least_time(call):
    call()
    least = float("inf")
    for _ in range(5):
        start, calls = time.process_time(), 0
        while time.process_time() - start < 0.5:
            call()
            calls += 1
        least = min(least, (time.process_time() - start) / calls)
    return least


def compare(path):
    data, graph = load(path)
    network = Network(data["weights"])
    label = torch.tensor(data["label"])

    def loss():
        return ((network(graph, False) - label) ** 2).mean()

    def evaluate():
        with torch.inference_mode():
            return network(graph, True)[-1].item()

    close = lambda a, b: abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-6)
    estimate = evaluate()
    assert close(estimate, data["estimate"]), (estimate, data["estimate"])
    value = loss()
    assert close(value.item(), data["loss"]), (value.item(), data["loss"])
    value.backward()
    norm = sum((p.grad.double() ** 2).sum() for p in network.parameters()) ** 0.5
    assert close(norm.item(), data["gradient_norm"]), (norm.item(), data["gradient_norm"])

    adam = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=2.5e-4)

    def step():
        adam.zero_grad()
        loss().backward()
        adam.step()

    evaluation, training = least_time(evaluate), least_time(step)
    ours = data["evaluation_cpu_seconds"], data["step_cpu_seconds"]
    return (
        f"| {data['nodes']:,} | {data['edges']:,} | {evaluation * 1e3:.2f} | {ours[0] * 1e3:.3f} | "
        f"{evaluation / ours[0]:.1f} | {training * 1e3:.2f} | {ours[1] * 1e3:.3f} | "
        f"{training / ours[1]:.1f} |"
    )


def main():
    print(f"torch {torch.__version__}, one thread; CPU milliseconds\n")
    print("| nodes | edges | evaluation, torch | homing | times | step, torch | homing | times |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for path in sys.argv[1:]:
        print(compare(path), flush=True)


if __name__ == "__main__":
    main()
