"""What scenarios drawn from numbers have in common: draws, how values are written, and the impairments of paths."""
import math
import random


class Draw(random.Random):
    """Draws from the ranges of a scenario."""

    def between(self, low, high):
        """Every order of magnitude as likely as another."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def chance(self, probability):
        return self.random() < probability


def time(seconds):
    return f'"{seconds * 1e6:.0f} us"'


def share(percent):
    return f'"{percent:.3f} %"'


def stage(direction, **keys):
    """A stage as TOML; values are TOML already."""
    return f"[[{direction}]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def late(draw, rtt, rate):
    return stage("forward", kind='"late"', probability=share(draw.between(0.05, 8)), delay=time(rtt * draw.between(0.02, 2)))


def jitter(draw, rtt, rate):
    shape = draw.choice(["normal", "uniform", "exponential", "pareto"])
    return stage("forward", kind='"delay"', delay=time(rtt / 4), jitter=time(rtt * draw.between(0.002, 0.1)),
                 distribution=f'"{shape}"')


def reorder(draw, rtt, rate):
    return stage("forward", kind='"reorder"', probability=share(draw.between(0.1, 20)), delay=time(rtt * draw.between(0.02, 0.5)))


def loss(draw, rtt, rate):
    return stage("forward", kind='"loss"', probability=share(draw.between(0.02, 3)))


def bursts(draw, rtt, rate):
    return stage("forward", kind='"loss"', model='"gilbert-elliott"', to_bad=share(draw.between(0.01, 0.5)),
                 to_good=share(draw.between(5, 60)))


def duplicates(draw, rtt, rate):
    return stage("forward", kind='"duplicate"', probability=share(draw.between(0.02, 2)),
                 copy_delay=time(rtt * draw.between(0.001, 0.5)))


def radio(draw, rtt, rate):
    return stage("forward", kind='"radio"', block_error=share(draw.between(1, 20)), rlc_delay=draw.choice(['"off"', '"20 ms"']))


def spray(draw, rtt, rate):
    lanes = draw.choice([2, 3, 4])
    lane = [f'{{ rate = "{rate * draw.between(0.4, 2) / lanes:.0f} bit/s", delay = {time(rtt * draw.between(0.02, 0.5))}, '
            f'queue = "{draw.between(20, 400):.0f} packets" }}' for _ in range(lanes)]
    policy = draw.choice(["random", "round-robin", "flowlet"])
    return stage("forward", kind='"spray"', policy=f'"{policy}"', lane=f"[{', '.join(lane)}]")


def acks_lost(draw, rtt, rate):
    return stage("reverse", kind='"loss"', probability=share(draw.between(0.1, 20)))


def acks_jitter(draw, rtt, rate):
    return stage("reverse", kind='"delay"', delay=time(rtt / 8), jitter=time(rtt * draw.between(0.002, 0.05)))


#: A full queue, by itself or with others, is on every path that is not sprayed.
IMPAIRMENTS = [late, jitter, reorder, loss, bursts, duplicates, radio, spray, acks_lost, acks_jitter]
