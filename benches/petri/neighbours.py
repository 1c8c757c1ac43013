"""The closed ring of `petri_throughput` in SNAKES and simpn: firings a second of processor time, as JSON.

Eight stations, 64 customers; the first station serves one at a time with a mean of 0.01, the others everybody with a
mean of 1. SNAKES knows no time: it fires any enabled binding, which is less than what the others do.
"""

import json
import random
import sys
import time

STATIONS, CUSTOMERS = 8, 64


def snakes_ring(firings):
    from snakes.nets import MultiArc, PetriNet, Place, Transition, Value, Variable

    net = PetriNet("ring")
    for i in range(STATIONS):
        net.add_place(Place(f"p{i}", range(CUSTOMERS) if i == 0 else []))
    net.add_place(Place("resource", [0]))
    for i in range(STATIONS):
        net.add_transition(Transition(f"t{i}"))
        net.add_input(f"p{i}", f"t{i}", Variable("x"))
        net.add_output(f"p{(i + 1) % STATIONS}", f"t{i}", Variable("x"))
    net.add_input("resource", "t0", Value(0))
    net.add_output("resource", "t0", Value(0))
    transitions, chance = net.transition(), random.Random(1)
    start = time.process_time()
    for _ in range(firings):
        enabled = [(t, mode) for t in transitions for mode in t.modes()]
        transition, mode = chance.choice(enabled)
        transition.fire(mode)
    return firings / (time.process_time() - start)


def simpn_ring(firings):
    from simpn.simulator import SimProblem, SimToken

    chance, net = random.Random(1), SimProblem()
    places = [net.add_var(f"p{i}") for i in range(STATIONS)]
    resource = net.add_var("resource")
    resource.put("r")
    for customer in range(CUSTOMERS):
        places[0].put(customer)

    def serve(x, r):
        delay = chance.expovariate(100.0)
        return [SimToken(x, delay=delay), SimToken(r, delay=delay)]

    def move(x):
        return [SimToken(x, delay=chance.expovariate(1.0))]

    net.add_event([places[0], resource], [places[1], resource], serve, name="t0")
    for i in range(1, STATIONS):
        net.add_event([places[i]], [places[(i + 1) % STATIONS]], move, name=f"t{i}")
    start = time.process_time()
    for _ in range(firings):
        net.step()
    return firings / (time.process_time() - start)


if __name__ == "__main__":
    tool, firings = sys.argv[1], int(sys.argv[2])
    run = {"snakes": snakes_ring, "simpn": simpn_ring}[tool]
    print(json.dumps({"per_second": max(run(firings) for _ in range(3))}))
