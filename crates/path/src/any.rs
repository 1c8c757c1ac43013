//! All stages in one type, so that a packet's way is a jump and not a call through a pointer.

use crate::stage::{Outbox, Pass, Stage};
use crate::{
    Corrupt, Delay, Duplicate, Late, Link, Loss, Netem, Nic, Packet, PeriodicReorder, Radio,
    Reorder, SharedLink, Spray, TokenBucket,
};

macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident($type:ty), wakes $wakes:literal;)*) => {
        /// Any stage.
        pub enum AnyStage<P: Packet> {
            $($(#[$doc])* $name($type),)*
            /// One made elsewhere.
            Custom(Box<dyn Stage<P> + Send>),
        }

        impl<P: Packet> AnyStage<P> {
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
            fn push(&mut self, now_ns: u64, packet: P, out: &mut Outbox<P>) {
                match self {
                    $(AnyStage::$name(stage) => stage.push(now_ns, packet, out),)*
                    AnyStage::Custom(stage) => stage.push(now_ns, packet, out),
                }
            }

            #[inline]
            fn pass(&mut self, now_ns: u64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
                match self {
                    $(AnyStage::$name(stage) => stage.pass(now_ns, packet, out),)*
                    AnyStage::Custom(stage) => stage.pass(now_ns, packet, out),
                }
            }

            #[inline]
            fn next_wake_ns(&self) -> Option<u64> {
                match self {
                    $(AnyStage::$name(stage) => Stage::<P>::next_wake_ns(stage),)*
                    AnyStage::Custom(stage) => stage.next_wake_ns(),
                }
            }

            fn wake(&mut self, now_ns: u64, out: &mut Outbox<P>) {
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
    /// A link.
    Link(Link), wakes false;
    /// Delay with jitter.
    Delay(Delay), wakes false;
    /// All of netem.
    Netem(Box<Netem>), wakes false;
    /// Loss.
    Loss(Loss), wakes false;
    /// Duplication.
    Duplicate(Duplicate), wakes false;
    /// Corruption.
    Corrupt(Corrupt), wakes false;
    /// Packets that jump the queue.
    Reorder(Reorder), wakes false;
    /// A share of packets, late.
    Late(Late), wakes false;
    /// The head of a router's queue, moved back.
    PeriodicReorder(PeriodicReorder<P>), wakes true;
    /// Several unequal paths.
    Spray(Spray), wakes false;
    /// Bursts of late packets.
    Radio(Radio), wakes false;
    /// A link shared with cross traffic.
    SharedLink(SharedLink), wakes false;
    /// The receiver's network card.
    Nic(Box<Nic<P>>), wakes true;
    /// A token bucket.
    TokenBucket(TokenBucket), wakes false;
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
