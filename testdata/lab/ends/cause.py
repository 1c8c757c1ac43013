"""What caused each retransmission and each recovery, as both captures show it.

  queue-loss    a transmission of its bytes was lost at the bottleneck's queue
  random-loss   it was lost elsewhere on the path
  loss          it was lost, where is not known
  before-tap    it was lost before the sender's capture point
  refused       it arrived, and the receiver discarded it (PAWS, or for want of memory); window: for want of window
  reordering    nothing was lost; the sender had seen a hole that a late original filled
  ack-loss      nothing was lost or late; the ACK that reports the original did not reach the sender
  ack-reordering    ... it was overtaken by others on its way back
  tail-probe    ... it was still to come; the copy is of the highest segment sent (RFC 8985 section 7)
  delay-jump    ... it was still to come, and a time-out repeated the oldest segment
  unknown       none of these

Where two may be said with equal right (a single outstanding segment is the oldest and the
highest) both stand, the better one first.
"""

LOSSES = ("queue-loss", "random-loss", "loss", "before-tap")


class Causes:
    def __init__(self, flow, sight, late, loss_place):
        """loss_place: where packets are lost when no capture behind the queue tells: one of LOSSES."""
        self.flow, self.sight, self.late, self.loss_place = flow, sight, late, loss_place

    def place_of_loss(self, t):
        if t.frame is None:
            return "before-tap"
        if self.flow.passed_queue is None:
            return self.loss_place
        return "random-loss" if t.sent in self.flow.passed_queue else "queue-loss"

    def earlier(self, copy):
        """Transmissions of the copy's bytes that were sent before it, originals first."""
        originals = [self.flow.originals[i] for i in self.sight.covered(copy.a, copy.b, whole=False)]
        copies = {c for i in self.sight.covered(copy.a, copy.b, whole=False) for c in self.sight.copies_of[i]}
        return originals, sorted((c for c in copies if c.sent < copy.sent), key=lambda c: c.sent)

    def of_copy(self, copy, verdict):
        originals, copies = self.earlier(copy)
        if verdict in ("needed", "undecided"):
            places = [self.place_of_loss(t) for t in originals + copies if t.arrival is None]
            return list(dict.fromkeys(places)) or ["unknown"]
        refused = [t.refused for t in originals if t.refused]
        if refused:
            return ["window" if refused[0] == "window" else "refused"]
        if any(t in self.late for t in originals):
            return ["reordering"]
        if any(t.arrival is None for t in originals):
            # The first copy filled the hole; this one came on top of it.
            lost = next(t for t in originals if t.arrival is None)
            return [self.place_of_loss(lost)] + self.of_waiting(copy, copies)
        return self.of_waiting(copy, originals + copies)

    def of_waiting(self, copy, arrived):
        """Nothing lost, nothing late: why had the sender not heard of it?"""
        arrivals = [t.arrival_time for t in arrived if t.arrival_time is not None]
        if not arrivals or copy.tap_time is None:
            return ["unknown"]
        answer = self.sight.answers.first(copy.b, min(arrivals))
        if answer is None:
            return ["unknown"]
        probe = [] if self.higher_sent_before(copy) else ["tail-probe"]
        if answer.captured is None:
            return ["ack-loss"] + probe
        if answer.overtaken:
            return ["ack-reordering"]
        lowest = copy.a <= self.sight.acknowledged_before(copy)
        return probe + ["delay-jump"] if lowest or not probe else probe

    def higher_sent_before(self, copy):
        """Had anything above the copy been sent before it?"""
        i = max(self.sight.covered(copy.a, copy.b, whole=False))
        return any(t.sent < copy.sent for t in self.flow.originals[i + 1:i + 2])


def phases(flow, sight, told):
    """Recoveries: from the first retransmission until everything sent before it is acknowledged (RFC 6582 section 3.2, `recover`).
    told: {copy: (verdict, causes, unseen)}. Returns dictionaries for the truth file. A recovery is
    unseen if nothing in it was lost and no retransmission in it can be seen to be spurious, or if
    its first retransmission looks like an original."""
    out, recover = [], None
    sendings = iter(sorted((t for t in flow.originals if t.tap_time is not None), key=lambda t: t.sent))
    ahead, highest = next(sendings, None), 0
    for copy in sorted((c for c in flow.copies if c.tap_time is not None), key=lambda c: c.sent):
        while ahead and ahead.sent < copy.sent:
            highest, ahead = max(highest, ahead.b), next(sendings, None)
        if recover is None or sight.acknowledged_before(copy) >= recover:
            recover = highest
            out.append([])
        out[-1].append(copy)
    # On the path another may come by first.
    seen = [(min(copies, key=lambda c: (c.tap_time, c.frame)), copies) for copies in out]
    return [phase(first, copies, told) for first, copies in seen]


def phase(first, copies, told):
    lost = list(dict.fromkeys(c for x in copies if told[x][0] == "needed" for c in told[x][1] if c in LOSSES))
    other = list(dict.fromkeys(c for x in copies for c in told[x][1]))
    return {"at_ns": first.tap_time, "frame": first.frame, "seq_offset": first.a, "retransmissions": len(copies),
            "needed": sum(told[x][0] == "needed" for x in copies), "causes": lost or other,
            "unseen": "before-tap" if told[first][2] == "before-tap" else None if lost or any(told[x][2] is None for x in copies) else told[first][2]}
