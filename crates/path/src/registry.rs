//! What there is, for help texts and for errors that name what is nearest.

/// One impairment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Impairment {
    /// Name in scenarios; also [`crate::AnyStage::name`].
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
}

/// Every impairment of this crate.
pub const REGISTRY: &[Impairment] = &[
    Impairment {
        name: "link",
        about: "rate (constant or changing over time), propagation, drop-tail queue in packets, bytes or BDP",
        source: "IEEE 802.3 framing; drop-tail first in, first out",
    },
    Impairment {
        name: "delay",
        about: "delay with jitter from a distribution, correlated; what is drawn shorter overtakes",
        source: "Linux sch_netem, tables of iproute2",
    },
    Impairment {
        name: "netem",
        about: "duplication, loss, corruption, limit, delay, rate, reorder and gap in the kernel's order",
        source: "Linux 6.12 sch_netem",
    },
    Impairment {
        name: "loss",
        about: "uniform loss with correlation, four-state Markov, Gilbert-Elliott",
        source: "Linux sch_netem; Salsano and others 2012; Gilbert 1960, Elliott 1963",
    },
    Impairment {
        name: "duplicate",
        about: "some packets come twice",
        source: "Linux sch_netem",
    },
    Impairment {
        name: "corrupt",
        about: "some packets are damaged, and go on or are discarded",
        source: "Linux sch_netem",
    },
    Impairment {
        name: "reorder",
        about: "delays packets, except some that are sent at once (probability, gap)",
        source: "Linux sch_netem",
    },
    Impairment {
        name: "late",
        about: "a fixed share of the packets comes later by a fixed time",
        source: "Schulte and others, I'll be a bit late: Packet Reordering in Mobile Networks, VI-B",
    },
    Impairment {
        name: "batch",
        about: "a box on the way that takes packets by interrupt and passes them on together",
        source: "Linux e1000, InterruptThrottleRate",
    },
    Impairment {
        name: "periodic",
        about: "a link whose queue moves the packet at its head behind RI others",
        source: "Fukuda, Nobayashi, Ikenaga, TCP Variants with Packet Reordering, ICN 2018, III",
    },
    Impairment {
        name: "spray",
        about: "packets of one flow over several unequal paths: random, in turn, by flow or flowlet",
        source: "RFC 2992 (by flow); Kandula and others 2007 (flowlets)",
    },
    Impairment {
        name: "radio",
        about: "blocks of consecutive packets late by multiples of 8 ms, released in order or not",
        source: "3GPP TS 36.321 (HARQ) and 36.322 (RLC); Schulte and others, V-B",
    },
    Impairment {
        name: "shared-link",
        about: "a link with cross traffic: constant, Poisson, on-off Pareto",
        source: "Willinger and others 1997 (on-off Pareto)",
    },
    Impairment {
        name: "token-bucket",
        about: "passes bursts at once, then holds to a rate",
        source: "Linux sch_tbf and sch_htb",
    },
    Impairment {
        name: "nic",
        about: "the receiver's card: ring, interrupt coalescing, softirq, SRPIC, LRO/GRO, costs",
        source: "Wu, Demar, Crawford, Sorting Reordered Packets with Interrupt Coalescing, 2009",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_named_once() {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        let mut expected = crate::any::NAMES.to_vec();
        assert_eq!(names.len(), expected.len());
        expected.retain(|name| !names.contains(name));
        assert!(expected.is_empty(), "{expected:?}");
    }

    #[test]
    fn every_entry_says_something() {
        let filled = |e: &Impairment| !e.about.is_empty() && !e.source.is_empty();
        assert!(REGISTRY.iter().all(filled));
    }
}
