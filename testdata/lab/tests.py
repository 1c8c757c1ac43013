"""The rules of the programs here that need neither a kernel nor the command: `python3 -m unittest testdata/lab/tests.py`."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import claims
import common
import remedies
import verdicts
from real import limits
from real.actions import Cannot
from real.logs import Blocked, Packet
from verdicts import ASK, ASKED_FOR, CAPTURE, Outcome

SCENARIO = """[run]
duration = "10 s"

[[flow]]
sender.loss_detection = "linux"
receiver.receive_buffer = "16384 B"
read_rate = "1000 bit/s"
return_route = ["back"]

[[line]]
rate = "10000000 bit/s"
queue = "100 packets"
queue_discipline = "drop-tail"

[[line.stage]]
kind = "outage"
begin = "1 s"
"""


def action(kind, commands=(), advice="", **more):
    return {"kind": kind, "commands": list(commands), "advice": advice, "gain": None, "sure": True, **more}


class Claims(unittest.TestCase):
    def lost(self, least, most, **packets):
        truth = claims.Truth([(0, 1, "line")], packets, {"kinds": []})
        return claims.PREDICATES["lost"]({"packets": least, "packets_at_most": most}, truth)

    def test_what_a_run_leaves_open_may_have_been_lost(self):
        """144 were lost and sent again by the end of a run; 820 more were lost or on their way."""
        self.assertTrue(self.lost(648, 648, losses=144, undecided=820))
        self.assertFalse(self.lost(1300, 1300, losses=144, undecided=820))
        self.assertFalse(self.lost(100, 110, losses=144, undecided=820))
        self.assertFalse(self.lost(648, 648, losses=144))


class Verdicts(unittest.TestCase):
    BEFORE = Outcome(1e6, 80.0, 40)

    def judged(self, kind, goodput, rtt_ms=80.0, again=40, gain=None):
        return verdicts.judged(action(kind, gain=gain), self.BEFORE, Outcome(goodput, rtt_ms, again))

    def test_a_gain_is_held_against_its_promise(self):
        promised = {"low": 0.5, "high": 1.0}
        self.assertEqual(self.judged("window", 1.7e6, gain=promised), "inside")
        # Two equal sets of runs differ by 2 %.
        self.assertEqual(self.judged("window", 1.49e6, gain=promised), "inside")
        self.assertEqual(self.judged("window", 1.47e6, gain=promised), "outside")
        self.assertEqual(self.judged("window", 2.1e6, gain=promised), "outside")

    def test_without_a_promise_any_gain_helps(self):
        self.assertEqual(self.judged("control", 1.03e6), "helps")
        self.assertEqual(self.judged("control", 1.01e6), "no effect")

    def test_what_costs_goodput_is_harmful_whatever_it_is_for(self):
        for kind in ("queue", "shape", "window"):
            self.assertEqual(self.judged(kind, 0.9e6, rtt_ms=10, again=0), "harmful")

    def test_a_queue_is_shorter_by_a_millisecond(self):
        self.assertEqual(self.judged("queue", 1e6, rtt_ms=78.9), "shorter queue")
        self.assertEqual(self.judged("queue", 1e6, rtt_ms=79.1), "no effect")

    def test_a_pacer_halves_what_is_sent_again(self):
        self.assertEqual(self.judged("shape", 1e6, again=19), "fewer sent again")
        self.assertEqual(self.judged("shape", 1e6, again=20), "no effect")

    def test_where_nothing_is_proposed_nothing_should_help(self):
        self.assertEqual(verdicts.none_proposed(CAPTURE, 0.2, ASKED_FOR), "rightly none")
        self.assertEqual(verdicts.none_proposed(CAPTURE, 0.21, ASKED_FOR), "would help")
        self.assertEqual(verdicts.none_proposed(ASK, 0.21, ASKED_FOR), "asks for it")
        self.assertEqual(verdicts.none_proposed(ASK, 0.21, "BBR"), "would help")

    def test_a_gain_has_no_unit(self):
        small, smaller = Outcome(0.142, 80, 0), Outcome(0.1, 80, 0)
        self.assertAlmostEqual(verdicts.gain(smaller, small), 0.42)

    def test_means_are_of_each_value(self):
        self.assertEqual(verdicts.mean([Outcome(1, 2, 3), Outcome(3, 4, 5)]), Outcome(2, 3, 4))

    def test_both_programs_judge_by_these(self):
        act, remedy = common.script("act"), common.script("remedy")
        self.assertIs(act.verdicts, verdicts)
        self.assertIs(remedy.verdicts, verdicts)
        self.assertEqual(act.judged(action("control", sure=False), self.BEFORE, self.BEFORE), "no effect (said: may)")
        self.assertEqual(act.judged(action("queue", sure=False), self.BEFORE, self.BEFORE), "no effect")
        nothing = Outcome(0, 0, 0)
        self.assertEqual(act.judged(action("control"), nothing, nothing), "no effect: nothing got through")


class Remedy(unittest.TestCase):
    def changed(self, *args, **more):
        """The lines that an action adds and takes away."""
        before, after = SCENARIO.splitlines(), remedies.carried_out(SCENARIO, action(*args, **more)).splitlines()
        return [line for line in after if line not in before], [line for line in before if line not in after]

    def test_a_buffer_gets_the_largest_size_of_the_command(self):
        more, less = self.changed("window", ["sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'"])
        self.assertEqual((more, less), (['receiver.receive_buffer = "6291456 B"'], ['receiver.receive_buffer = "16384 B"']))

    def test_a_managed_queue_has_the_target_of_the_command(self):
        more, _ = self.changed("queue", ["tc qdisc replace dev eth0 root fq_codel target 7ms interval 140ms"])
        self.assertIn('queue_discipline = "fq-codel"', more)
        self.assertIn('target = "7 ms"', more)
        self.assertIn('interval = "140 ms"', more)

    def test_a_threshold_is_waited_for(self):
        more, less = self.changed("wait-longer", ["sysctl -w net.ipv4.tcp_reordering=12"])
        self.assertEqual(more, ['sender.loss_detection = "static"', 'sender.dupthresh = "12 packets"'][::-1])
        self.assertEqual(less, ['sender.loss_detection = "linux"'])

    def test_what_is_the_matter_is_taken_away(self):
        self.assertEqual(self.changed("reader")[1], ['read_rate = "1000 bit/s"'])
        self.assertIn('kind = "outage"', self.changed("outage")[1])

    def test_a_sorter_is_the_one_that_is_named(self):
        more, _ = self.changed("sort", ["ethtool -C eth0 rx-usecs 200"], advice="A card that sees them: srpic, which sorts.")
        self.assertIn('sorter = "srpic"', more)
        self.assertIn('coalesce = "200 us"', more)

    def test_what_cannot_be_done_says_why(self):
        with self.assertRaisesRegex(Cannot, "nothing here does that"):
            remedies.carried_out(SCENARIO, action("path-mtu"))
        with self.assertRaisesRegex(Cannot, "packets come in order"):
            remedies.carried_out(SCENARIO, action("one-way"))

    def test_every_line_is_faster_by_the_factor(self):
        self.assertIn('rate = "10040000 bit/s"', remedies.faster(SCENARIO, 1.004))

    def test_alternatives_change_something(self):
        found = remedies.alternatives(SCENARIO)
        self.assertEqual(len(found), len(remedies.ANY))
        self.assertTrue(all(scenario != SCENARIO for _, scenario in found))


class Truth(unittest.TestCase):
    """What the counters of a kernel and the log of an application say."""

    @staticmethod
    def packet(ns, start=0, length=0, ack=0, **more):
        known = {"out": length > 0, "syn": False, "reset": False, "port": 1, "arrived": ns + 10 if length else ns}
        return Packet(ns, 0, start=start, length=length, ack=ack, **{**known, **more})

    def test_a_writer_that_sleeps_between_short_calls_is_not_blocked(self):
        with tempfile.TemporaryDirectory() as folder:
            calls = [(ms * 500_000, ms * 500_000 + 2_000) for ms in range(20)] + [(20_000_000, 90_000_000), (90_400_000, 150_000_000)]
            rows = "\n".join(f"{start},{end}" for start, end in calls)
            Path(f"{folder}/x.writes.csv").write_text(f"start_ns,end_ns\n{rows}\n")
            blocked = Blocked(f"{folder}/x")
        self.assertEqual([blocked.at(ns) for ns in (5_000_000, 50_000_000, 90_200_000, 160_000_000)], [False, True, True, False])

    def test_a_recovery_may_follow_another_at_once(self):
        """The kernel stays in the state of recovery: what had been sent at 100 is acknowledged at 300, and more is sent again at 310."""
        packets = [self.packet(10, 0, 3000), self.packet(100, 0, 1000, again=True), self.packet(110, 3000, 3000),
                   self.packet(300, ack=3000), self.packet(310, 3000, 1000, again=True), self.packet(500, ack=6000)]
        sample = {"retransmits": 0, "snd_cwnd": 10, "snd_ssthresh": 10}
        samples = [{"ns": ns, "ca_state": state, **sample} for ns, state in ((50, 0), (150, 3), (250, 3), (350, 3), (550, 0))]
        found, _ = limits.recoveries(samples, packets, limits.Positions(packets))
        self.assertEqual([(each["start"], each["end"]) for each in found], [(100, 300), (310, 500)])

    def test_what_became_of_packets_is_counted(self):
        packets = [self.packet(1, 0, 1000), self.packet(2, 1000, 1000, arrived=30), self.packet(3, 2000, 1000), self.packet(4, 3000, 1000, arrived=None),
                   self.packet(40, ack=3000), self.packet(50, 3000, 1000, again=True), self.packet(70, ack=4000), self.packet(80, 4000, 1000, arrived=None)]
        counts = limits.counts(packets, "flow")
        self.assertEqual([counts[key] for key in ("losses", "reordered", "again", "spurious", "data", "undecided")], [1, 1, 1, 0, 5, 1])

    def test_what_a_client_has_reset_is_over(self):
        packets = [self.packet(1, 0, 1000), self.packet(5, out=True, reset=True), self.packet(900, ack=1000)]
        self.assertEqual(limits.ended(packets), 5)

    def test_the_applications_end_counts_where_no_clause_is_about_it(self):
        known = {"kinds": []}
        truth = claims.Truth([(0, 10, "handshake"), (10, 100, "application:end")], None, known)
        claim = {"kind": "held", "limits": "application+line", "share": 0.88, "share_at_most": 0.88}
        self.assertTrue(claims.held(claim, truth))
        self.assertFalse(claims.held({**claim, "end_told": True}, truth))


class Numbers(unittest.TestCase):
    def test_the_last_one_is_not_included(self):
        self.assertEqual(common.numbers("3-5"), range(3, 5))


if __name__ == "__main__":
    unittest.main()
