//! All stages in one type, so that a packet's way is a jump and not a call through a pointer.

use crate::stage::{Outbox, Pass, Stage};
use crate::{
    Batch, Corrupt, Delay, Duplicate, Late, Link, Loss, Netem, Nic, Packet, PeriodicReorder, Radio,
    Reorder, SharedLink, Spray, TokenBucket,
};

macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident($type:ty), named $named:literal, wakes $wakes:literal;)*) => {
        /// Any stage.
        pub enum AnyStage<P: Packet> {
            $($(#[$doc])* $name($type),)*
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

        /// Every name but "custom".
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$($named),*];

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
    /// A link.
    Link(Link), named "link", wakes false;
    /// Delay with jitter.
    Delay(Delay), named "delay", wakes false;
    /// All of netem.
    Netem(Box<Netem>), named "netem", wakes false;
    /// Loss.
    Loss(Loss), named "loss", wakes false;
    /// Duplication.
    Duplicate(Duplicate), named "duplicate", wakes false;
    /// Corruption.
    Corrupt(Corrupt), named "corrupt", wakes false;
    /// Packets that jump the queue.
    Reorder(Reorder), named "reorder", wakes false;
    /// A share of packets, late.
    Late(Late), named "late", wakes false;
    /// The head of a router's queue, moved back.
    PeriodicReorder(PeriodicReorder<P>), named "periodic", wakes true;
    /// Several unequal paths.
    Spray(Spray), named "spray", wakes false;
    /// Bursts of late packets.
    Radio(Radio), named "radio", wakes false;
    /// A link shared with cross traffic.
    SharedLink(SharedLink), named "shared-link", wakes false;
    /// The receiver's network card.
    Nic(Box<Nic<P>>), named "nic", wakes true;
    /// A box that takes packets by interrupt.
    Batch(Batch), named "batch", wakes false;
    /// A token bucket.
    TokenBucket(TokenBucket), named "token-bucket", wakes false;
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
