"""Congestion controls and sorters written in Python."""

import pytest

import inorder

SCENARIO = """
[run]
duration = "1 s"
[[flow]]
[flow.sender]
congestion = "reno"
[[forward]]
kind = "link"
rate = "50 Mbit/s"
queue = "50 packets"
[[forward]]
kind = "delay"
delay = "5 ms"
jitter = "0.3 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
[receiver_card]
sorter = "none"
"""


class Reno:
    """RFC 5681: what the Reno of the simulator does."""

    def grow(self, window: inorder.Window, ack: inorder.Ack) -> None:
        left = window.slow_start(ack.acked) if window.in_slow_start() else ack.acked
        if left > 0:
            window.additive_increase(window.cwnd, left)

    def ssthresh(self, window: inorder.Window, loss: inorder.Loss) -> int:
        return max(window.cwnd // 2, 2)


class Batch:
    """Sorts the data of each batch by sequence number."""

    def __init__(self) -> None:
        self.held: list[inorder.Packet] = []

    def push(self, packet: inorder.Packet, now_ns: int) -> list[inorder.Packet] | None:
        if packet.is_data:
            self.held.append(packet)
            return None
        return [packet]

    def end_of_batch(self, now_ns: int) -> list[inorder.Packet]:
        batch, self.held = self.held, []
        return sorted(batch, key=lambda packet: (packet.flow, packet.seq))


def measures(**options: object) -> dict[str, object]:
    [run] = inorder.simulate(SCENARIO, **options).runs.to_dicts()
    return run


def test_reno_in_python_is_the_reno_of_the_simulator() -> None:
    ours = measures(set={"flow.sender.congestion": "own-reno"}, congestion={"own-reno": Reno})
    assert ours == measures()
    assert ours["recoveries"] > 0


def test_a_fixed_window_is_obeyed() -> None:
    class Fixed:
        def start(self, window: inorder.Window, mss: int, now_ns: int) -> None:
            window.cwnd = 7

        def grow(self, window: inorder.Window, ack: inorder.Ack) -> None:
            assert ack.in_flight <= 7

        def ssthresh(self, window: inorder.Window, loss: inorder.Loss) -> int:
            return 7

    samples = inorder.simulate(
        SCENARIO, set={"flow.sender.congestion": "seven"}, congestion={"seven": Fixed}, samples=True
    ).samples.to_dicts()
    assert {sample["cwnd"] for sample in samples[50:]} == {7}


class Threshold:
    """The third duplicate ACK, as the simulator's detection `static` has it."""

    def on_ack(self, outstanding: inorder.Outstanding, arrival: inorder.Arrival) -> None:
        outstanding.mark_lost(3)

    def dupthresh(self) -> int:
        return 3


def test_a_loss_detection_in_python_is_that_of_the_simulator() -> None:
    fixed = {"flow.sender.loss_detection": "static", "flow.sender.dupthresh": "3 packets"}
    ours = measures(set={"flow.sender.loss_detection": "third"}, loss_detection={"third": Threshold})
    theirs = measures(set=fixed)
    assert ours["recoveries"] == theirs["recoveries"] > 0
    assert ours["throughput"] == theirs["throughput"]


def test_a_loss_detection_may_wait() -> None:
    class Patient:
        """Waits half a round trip after the first SACK above a hole."""

        def __init__(self) -> None:
            self.deadline: int | None = None

        def on_ack(self, outstanding: inorder.Outstanding, arrival: inorder.Arrival) -> None:
            if outstanding.sacked == 0:
                self.deadline = None
            elif self.deadline is None or arrival.advances:
                self.deadline = outstanding.now_ns + outstanding.srtt_ns // 2

        def deadline_ns(self) -> int | None:
            return self.deadline

        def on_deadline(self, outstanding: inorder.Outstanding) -> None:
            self.deadline = None
            outstanding.mark_lost(1)

        def on_timeout(self, outstanding: inorder.Outstanding) -> None:
            self.deadline = None

    late = {"forward.1.jitter": "1 ms"}
    patient = measures(set=late | {"flow.sender.loss_detection": "patient"}, loss_detection={"patient": Patient})
    third = measures(set=late | {"flow.sender.loss_detection": "third"}, loss_detection={"third": Threshold})
    assert patient["spurious"] < third["spurious"]  # type: ignore[operator]

    class Stuck(Patient):
        def on_deadline(self, outstanding: inorder.Outstanding) -> None:
            pass

    with pytest.raises(inorder.UsageError, match="deadline_ns: expected a time after"):
        measures(set=late | {"flow.sender.loss_detection": "stuck"}, loss_detection={"stuck": Stuck})


def test_a_sorter_in_python_sorts() -> None:
    unsorted = measures(set={"receiver_card.sorter": "none"})
    sorted_ = measures(set={"receiver_card.sorter": "batch"}, sorters={"batch": Batch})
    assert sorted_["reordered_at_card"] > 0
    assert sorted_["reordered_at_stack"] < unsorted["reordered_at_stack"]


def test_an_exception_in_an_algorithm_is_raised() -> None:
    class Broken(Reno):
        def ssthresh(self, window: inorder.Window, loss: inorder.Loss) -> int:
            raise ZeroDivisionError("in the algorithm")

    with pytest.raises(ZeroDivisionError, match="in the algorithm"):
        measures(set={"flow.sender.congestion": "broken"}, congestion={"broken": Broken})

    class Twice(Batch):
        def push(self, packet: inorder.Packet, now_ns: int) -> list[inorder.Packet]:
            return [packet, packet]

    with pytest.raises(inorder.UsageError, match="packet 0 was delivered before"):
        measures(set={"receiver_card.sorter": "twice"}, sorters={"twice": Twice})


def test_a_name_that_nobody_defined_is_refused() -> None:
    with pytest.raises(inorder.MalformedError, match="mine"):
        measures(set={"flow.sender.congestion": "mine"})
    with pytest.raises(inorder.MalformedError, match='unknown sorter "mine"'):
        measures(set={"receiver_card.sorter": "mine"})
