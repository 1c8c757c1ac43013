//! Queue disciplines of links: which packets of a queue are dropped or marked, and which goes next.

use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{Count32, Duration, Flag, Number, Share, Size, Size32};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// Which packets of a queue are dropped.
    pub enum Discipline in "link", check Discipline::check {
        /// Which packets of the queue are dropped.
        by queue_discipline, default "drop-tail";
        /// Packets that arrive while it is full.
        DropTail = "drop-tail",
        /// Also packets that leave the queue while the waiting time has been too long for too long (RFC 8289).
        Codel = "codel" {
            /// Acceptable waiting time.
            target_ns as "target": Duration, default "5 ms";
            /// Packets are dropped if all of them waited longer than that during this interval, which is the longest
            /// usual round-trip time.
            interval_ns as "interval": Duration, default "100 ms", above "0 s";
            /// Marks packets of flows that negotiated ECN instead of dropping them.
            mark: Flag, default "true";
        },
        /// Gives flows equal shares of the link and keeps each flow's queue short as CoDel does (RFC 8290; the
        /// default of most Linux distributions, there with a queue of 10,240 packets).
        FqCodel = "fq-codel" {
            /// Number of queues over which flows are hashed.
            queues: Count32, default "1024", in "1"..="65536";
            /// Bytes on the wire that a queue may send before the next queue's turn.
            quantum_bytes as "quantum": Size32, default "1514 B", in "256 B"..="1 MB";
            /// Acceptable waiting time.
            target_ns as "target": Duration, default "5 ms";
            /// Packets are dropped if all of them waited longer than that during this interval, which is the longest
            /// usual round-trip time.
            interval_ns as "interval": Duration, default "100 ms", above "0 s";
            /// Marks packets of flows that negotiated ECN instead of dropping them.
            mark: Flag, default "true";
        },
        /// Also arrivals, with a probability that a controller keeps such that the waiting time stays near a target
        /// (PIE: RFC 8033, Linux's `pie`, there with a queue of 1,000 packets).
        Pie = "pie" {
            /// The waiting time to keep.
            target_ns as "target": Duration, default "15 ms";
            /// Time between two changes of the probability.
            update_ns as "update": Duration, default "15 ms", above "0 s";
            /// Weight of the distance from the target, per second. Linux takes 16 times this number.
            alpha: Number, default "0.125";
            /// Weight of the growth since the last change, per second. Linux takes 16 times this number.
            beta: Number, default "1.25";
            /// How long nothing is dropped after a calm; Linux has no option for it.
            burst_ns as "burst": Duration, default "150 ms";
            /// Where the waiting time is taken from.
            estimate: DelayEstimate, default "last-packet";
            /// Whether small packets are dropped less often, in proportion to their bytes (Linux's `bytemode`).
            by_bytes: Flag, default "false";
            /// Marks packets of flows that negotiated ECN instead of dropping them, while the probability is at most 10 %.
            /// Linux needs `ecn` for it, too.
            mark: Flag, default "false";
        },
        /// Also arrivals at random while the mean length of the queue is between two thresholds, and all arrivals above
        /// the upper one (RED: Floyd and Jacobson 1993, Linux's `red`).
        Red = "red" {
            /// Mean length of the queue, in bytes on the wire, from which packets are dropped.
            min_bytes as "min": Size, required;
            /// Mean length from which all packets are dropped.
            max_bytes as "max": Size, required;
            /// Probability of a drop just below `max`, before drops are spread.
            max_probability: Share, default "2 %", above "0 %";
            /// Weight of a new length in the mean.
            weight: Share, unset "the largest power of 1/2 with which a burst of (2 min + max) / 3 does not lift the mean \
                              to `min`, as `tc` has it", above "0 %";
            /// Usual size of a packet: how fast the mean decays while the link is idle.
            packet_bytes as "packet": Size32, default "1000 B", from "1 B";
            /// Changes `max_probability` between 1 % and 50 %, so that the mean stays half-way between the thresholds
            /// (Linux's `adaptive`).
            adaptive: Flag, default "false";
            /// Instead of dropping all packets above `max`, lets the probability rise to 1 at twice `max` (Floyd 2000;
            /// ns-3's default, not in Linux).
            gentle: Flag, default "false";
            /// Marks packets of flows that negotiated ECN instead of dropping them. Linux needs `ecn` for it, too.
            mark: Flag, default "false";
            /// Above `max` packets are dropped in any case (Linux's `harddrop`).
            hard_drop: Flag, default "false";
        },
        /// Two queues, one of them for packets with ECT(1), which are marked early and go first (DualPI2: RFC 9332,
        /// Linux's `dualpi2` since 6.17, there with a queue of 10,000 packets). The packets of all other flows are dropped, or
        /// marked if they negotiated ECN, with the square of the probability.
        DualPi2 = "dualpi2" {
            /// The waiting time of other flows to keep.
            target_ns as "target": Duration, default "15 ms";
            /// Time between two changes of the probability.
            update_ns as "update": Duration, default "15 ms", above "0 s";
            /// Weight of the distance from the target, per second.
            alpha: Number, default "0.15";
            /// Weight of the growth since the last change, per second.
            beta: Number, default "3";
            /// By how much the base probability is multiplied for packets with ECT(1).
            coupling: Number, default "2", above "0";
            /// Waiting time of packets with ECT(1) from which they are marked also for their own delay.
            ramp_from_ns as "ramp_from": Duration, default "800 us";
            /// The probability of these marks rises to 1 over this range; 0: a step, as in Linux (there at 1 ms).
            ramp_range_ns as "ramp_range": Duration, default "400 us";
            /// Share of the link for other flows while both queues have packets.
            classic_share: Share, default "10 %", below "100 %";
        },
    }
}

impl Discipline {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let Discipline::Red(red) = self else {
            return Ok(());
        };
        require(
            red.min_bytes < red.max_bytes,
            r.place("min"),
            "min is not below max",
            "two different thresholds",
        )
    }
}

choices! {
    /// Where PIE takes the waiting time from.
    pub enum DelayEstimate {
        /// How long the last packet waited (Linux's default).
        LastPacket = "last-packet",
        /// Bytes waiting, divided by the rate at which they left (RFC 8033; Linux's `dq_rate_estimator`).
        DepartureRate = "departure-rate",
    }
}
