"""A set of bytes as sorted, disjoint ranges."""
import bisect


class Ranges:
    def __init__(self):
        self.starts, self.ends = [], []

    def add(self, a, b):
        i = bisect.bisect_left(self.ends, a)
        j = bisect.bisect_right(self.starts, b)
        if i < j:
            a, b = min(a, self.starts[i]), max(b, self.ends[j - 1])
        self.starts[i:j], self.ends[i:j] = [a], [b]

    def holds(self, a, b):
        i = bisect.bisect_right(self.starts, a) - 1
        return i >= 0 and self.ends[i] >= b

    def below_gap(self):
        """What lies below the first gap, counted from 0."""
        out = Ranges()
        if self.starts and self.starts[0] <= 0:
            out.add(self.starts[0], self.ends[0])
        return out
