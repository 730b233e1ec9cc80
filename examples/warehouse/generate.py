"""Writes one random problem of the warehouse domain to standard output.

    python3 generate.py LANES BOXES ORDERED SEED

BOXES boxes stand in LANES lanes, each in a random lane, in random order. ORDERED of them, drawn at
random, are to be packed in a random order; `end` stands behind the last on the list.
"""
import random
import sys

lanes, boxes, ordered, seed = (int(word) for word in sys.argv[1:5])
draw = random.Random(seed)

stacks = [[] for _ in range(lanes)]  # from the aisle inwards
order = list(range(1, boxes + 1))
draw.shuffle(order)
for box in order:
    draw.choice(stacks).append(box)
wanted = [f"b{box}" for box in draw.sample(range(1, boxes + 1), ordered)]

init = ["(free)", f"(turn {wanted[0]})"]
init += [f"(next {box} {follower})" for box, follower in zip(wanted, wanted[1:] + ["end"])]
for lane, stack in enumerate(stacks, 1):
    init += [f"(in b{box} l{lane})" for box in stack]
    init += [f"(behind b{back} b{front})" for front, back in zip(stack, stack[1:])]
    init += [f"(first b{stack[0]})", f"(last b{stack[-1]})"] if stack else [f"(empty l{lane})"]

print(f"(define (problem warehouse-{lanes}-{boxes}-{ordered}-{seed})")
print("  (:domain warehouse)")
print("  (:objects", *(f"b{box}" for box in range(1, boxes + 1)), "end - box")
print("            " + " ".join(f"l{lane}" for lane in range(1, lanes + 1)), "- lane)")
print("  (:init", "\n         ".join(init) + ")")
print("  (:goal (and", " ".join(f"(packed {box})" for box in wanted) + ")))")
