//! All stages in one type, so that a packet's way is a jump and not a call through a pointer.

use crate::stage::{Outbox, Pass, Stage};
use crate::{
    Batch, Corrupt, Delay, Duplicate, Late, Link, Loss, Netem, Nic, Packet, PeriodicReorder, Radio,
    Reorder, SharedLink, Spray, TokenBucket,
};

/// One impairment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Impairment {
    /// Name in scenarios; also [`AnyStage::name`].
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
}

/// The list of impairments. A line says what it does, its name in scenarios, whether it ever asks to be woken
/// ([`Stage::next_wake_ns`]), and where its rules come from.
macro_rules! stages {
    ($(
        #[doc = $about:literal]
        $name:ident($type:ty), named $named:literal, wakes $wakes:literal, source $source:literal;
    )*) => {
        /// Every impairment of this crate.
        pub const REGISTRY: &[Impairment] = &[$(Impairment {
            name: $named,
            about: $about.trim_ascii(),
            source: $source,
        }),*];

        /// Any stage.
        pub enum AnyStage<P: Packet> {
            $(#[doc = $about] $name($type),)*
            /// One made elsewhere.
            Custom(Box<dyn Stage<P> + Send>),
        }

        impl<P: Packet> AnyStage<P> {
            /// Its name in [`crate::REGISTRY`]; of one made elsewhere, "custom".
            pub fn name(&self) -> &'static str {
                match self {
                    $(AnyStage::$name(_) => $named,)*
                    AnyStage::Custom(_) => "custom",
                }
            }

            /// May [`Stage::next_wake_ns`] ever name a time?
            pub(crate) fn may_wake(&self) -> bool {
                match self {
                    $(AnyStage::$name(_) => $wakes,)*
                    AnyStage::Custom(_) => true,
                }
            }
        }

        impl<P: Packet> Stage<P> for AnyStage<P> {
            #[inline]
            fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
                match self {
                    $(AnyStage::$name(stage) => stage.push(now_ns, packet, out),)*
                    AnyStage::Custom(stage) => stage.push(now_ns, packet, out),
                }
            }

            #[inline]
            fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
                match self {
                    $(AnyStage::$name(stage) => stage.pass(now_ns, packet, out),)*
                    AnyStage::Custom(stage) => stage.pass(now_ns, packet, out),
                }
            }

            #[inline]
            fn next_wake_ns(&self) -> Option<i64> {
                match self {
                    $(AnyStage::$name(stage) => Stage::<P>::next_wake_ns(stage),)*
                    AnyStage::Custom(stage) => stage.next_wake_ns(),
                }
            }

            fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
                match self {
                    $(AnyStage::$name(stage) => stage.wake(now_ns, out),)*
                    AnyStage::Custom(stage) => stage.wake(now_ns, out),
                }
            }

            fn keeps_order(&self) -> bool {
                match self {
                    $(AnyStage::$name(stage) => Stage::<P>::keeps_order(stage),)*
                    AnyStage::Custom(stage) => stage.keeps_order(),
                }
            }

            fn orders_itself(&self) -> bool {
                match self {
                    $(AnyStage::$name(stage) => Stage::<P>::orders_itself(stage),)*
                    AnyStage::Custom(stage) => stage.orders_itself(),
                }
            }

            fn needs_order(&self) -> bool {
                match self {
                    $(AnyStage::$name(stage) => Stage::<P>::needs_order(stage),)*
                    AnyStage::Custom(stage) => stage.needs_order(),
                }
            }
        }

        $(impl<P: Packet> From<$type> for AnyStage<P> {
            fn from(stage: $type) -> Self {
                AnyStage::$name(stage)
            }
        })*
    };
}

stages! {
    /// rate (constant or changing over time), propagation, drop-tail queue in packets, bytes or BDP
    Link(Link), named "link", wakes false,
        source "IEEE 802.3 framing; drop-tail first in, first out";
    /// delay with jitter from a distribution, correlated; what is drawn shorter overtakes
    Delay(Delay), named "delay", wakes false,
        source "Linux sch_netem, tables of iproute2";
    /// duplication, loss, corruption, limit, delay, rate, reorder and gap in the kernel's order
    Netem(Box<Netem>), named "netem", wakes false,
        source "Linux 6.12 sch_netem";
    /// uniform loss with correlation, four-state Markov, Gilbert-Elliott
    Loss(Loss), named "loss", wakes false,
        source "Linux sch_netem; Salsano and others 2012; Gilbert 1960, Elliott 1963";
    /// some packets come twice
    Duplicate(Duplicate), named "duplicate", wakes false,
        source "Linux sch_netem";
    /// some packets are damaged, and go on or are discarded
    Corrupt(Corrupt), named "corrupt", wakes false,
        source "Linux sch_netem";
    /// delays packets, except some that are sent at once (probability, gap)
    Reorder(Reorder), named "reorder", wakes false,
        source "Linux sch_netem";
    /// a fixed share of the packets comes later by a fixed time
    Late(Late), named "late", wakes false,
        source "Schulte and others, I'll be a bit late: Packet Reordering in Mobile Networks, VI-B";
    /// a link whose queue moves the packet at its head behind RI others
    PeriodicReorder(PeriodicReorder<P>), named "periodic", wakes true,
        source "Fukuda, Nobayashi, Ikenaga, TCP Variants with Packet Reordering, ICN 2018, III";
    /// packets of one flow over several unequal paths: random, in turn, by flow or flowlet
    Spray(Spray), named "spray", wakes false,
        source "RFC 2992 (by flow); Kandula and others 2007 (flowlets)";
    /// blocks of consecutive packets late by multiples of 8 ms, released in order or not
    Radio(Radio), named "radio", wakes false,
        source "3GPP TS 36.321 (HARQ) and 36.322 (RLC); Schulte and others, V-B";
    /// a link with cross traffic: constant, Poisson, on-off Pareto
    SharedLink(SharedLink), named "shared-link", wakes false,
        source "Willinger and others 1997 (on-off Pareto)";
    /// the receiver's card: ring, interrupt coalescing, softirq, sorter, LRO/GRO, costs
    Nic(Box<Nic<P>>), named "nic", wakes true,
        source "Wu, Demar, Crawford, Sorting Reordered Packets with Interrupt Coalescing, 2009";
    /// a box on the way that takes packets by interrupt and passes them on together
    Batch(Batch), named "batch", wakes false,
        source "Linux e1000, InterruptThrottleRate";
    /// passes bursts at once, then holds to a rate
    TokenBucket(TokenBucket), named "token-bucket", wakes false,
        source "Linux sch_tbf and sch_htb";
}

impl<P: Packet> From<Netem> for AnyStage<P> {
    fn from(stage: Netem) -> Self {
        AnyStage::Netem(Box::new(stage))
    }
}

impl<P: Packet> From<Nic<P>> for AnyStage<P> {
    fn from(stage: Nic<P>) -> Self {
        AnyStage::Nic(Box::new(stage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_impairment_has_a_name_of_its_own_and_says_something() {
        let filled = |e: &Impairment| !e.about.is_empty() && !e.source.is_empty();
        assert!(REGISTRY.iter().all(filled));
        let mut names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REGISTRY.len());
    }
}
