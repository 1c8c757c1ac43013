//! The list of impairments, one file for each.
//!
//! To add an impairment, add its file, and here its `mod` line, its `pub use` line and its entry in `stages!`;
//! declare its keys in `inorder-scenario`, `config/impairments.rs`. Its file contains what it does to packets
//! ([`Stage`]) and how it is created from its keys ([`Declared`]). A queue discipline of a link is also listed here,
//! and selected in `impl Declared for plain::Link` below; its keys are in `config/discipline.rs`. The code that all
//! disciplines share is in `managed_link`.

mod batch;
mod codel;
mod corrupt;
mod delay;
mod device;
mod dualpi2;
mod duplicate;
mod fifo;
mod fq_codel;
mod late;
mod link;
mod loss;
mod managed_link;
mod netem;
mod outage;
mod periodic;
mod pie;
mod processor;
mod radio;
mod red;
mod reorder;
mod shared_link;
mod spray;
mod ticks;
mod token_bucket;
#[cfg(test)]
mod twin;

use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, StageKind};

use crate::any::stages;
use crate::busy::BusyLog;
use crate::declared::Declared;
use crate::nic::Nic;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

pub use batch::Batch;
pub use codel::{Codel, CodelLink};
pub use corrupt::Corrupt;
pub use delay::Delay;
pub use device::Device;
pub use dualpi2::{DualPi2, DualPi2Link};
pub use duplicate::Duplicate;
pub use fq_codel::{FqCodel, FqCodelLink};
pub use late::Late;
pub use link::Link;
pub use loss::Loss;
pub use managed_link::{Arrival, Discipline, ManagedLink};
pub use netem::{Netem, NetemConfig};
pub use outage::Outage;
pub use periodic::PeriodicReorder;
pub use pie::{Pie, PieLink};
pub use processor::{Processor, ProcessorConfig};
pub use radio::Radio;
pub use red::{Red, RedLink, weight as red_weight};
pub use reorder::Reorder;
pub use shared_link::SharedLink;
pub use spray::Spray;
pub use token_bucket::TokenBucket;

stages! {
    /// rate (constant or changing over time), propagation, drop-tail queue in packets, bytes or BDP
    Link(Link), keys Link, wakes false;
    /// the sending host's own device: TCP keeps what its full queue does not take, and reduces its window
    Device(Device), keys Device, wakes false;
    /// a link whose queue limits the delay: CoDel
    Codel(Box<CodelLink<P>>), named "codel", wakes true;
    /// a link shared fairly between flows, each with a CoDel queue: FQ-CoDel
    FqCodel(Box<FqCodelLink<P>>), named "fq-codel", wakes true;
    /// a link whose queue keeps its delay near a target: PIE
    Pie(Box<PieLink<P>>), named "pie", wakes true;
    /// a link whose queue drops at random by its mean length: RED
    Red(Box<RedLink<P>>), named "red", wakes true;
    /// a link with a queue for low latency and another one coupled to it: DualPI2
    DualPi2(Box<DualPi2Link<P>>), named "dualpi2", wakes true;
    /// delay with jitter from a distribution, correlated; packets with shorter delays overtake
    Delay(Delay), keys Delay, wakes false;
    /// duplication, loss, corruption, limit, delay, rate, reorder and gap in the kernel's order
    Netem(Box<Netem>), keys Netem, wakes false;
    /// uniform loss with correlation, four-state Markov, Gilbert-Elliott
    Loss(Loss), keys Loss, wakes false;
    /// nothing passes for a time
    Outage(Outage), keys Outage, wakes false;
    /// some packets are duplicated
    Duplicate(Duplicate), keys Duplicate, wakes false;
    /// some packets are damaged, and continue or are dropped
    Corrupt(Corrupt), keys Corrupt, wakes false;
    /// delays packets, except some that are sent at once (probability, gap)
    Reorder(Reorder), keys Reorder, wakes false;
    /// a fixed share of the packets is delayed by an additional fixed time
    Late(Late), keys Late, wakes false;
    /// a link whose queue moves the packet at its head behind RI others
    PeriodicReorder(PeriodicReorder<P>), keys Periodic, wakes true;
    /// a network processor whose threads reorder, under an ordering scheme, with other traffic
    Processor(Box<Processor<P>>), keys Processor, wakes true;
    /// packets of one flow over several unequal paths: random, in turn, by flow or flowlet
    Spray(Spray), keys Spray, wakes false;
    /// blocks of consecutive packets late by multiples of 8 ms, released in order or not
    Radio(Radio), keys Radio, wakes false;
    /// a link with cross traffic: constant, Poisson, on-off Pareto
    SharedLink(SharedLink), keys SharedLink, wakes false;
    /// the receiver's card: ring, interrupt coalescing, softirq, sorter, LRO/GRO, costs
    Nic(Box<Nic<P>>), named "nic", wakes true;
    /// a device on the path that receives packets by interrupt and forwards them together
    Batch(Batch), keys Batch, wakes false;
    /// passes bursts at once, then limits the rate
    TokenBucket(TokenBucket), keys TokenBucket, wakes false;
}

/// Stages so large that they lie in a box.
macro_rules! boxed {
    ($($name:ident($stage:ty)),* $(,)?) => {
        $(impl<P: Packet> From<$stage> for AnyStage<P> {
            fn from(stage: $stage) -> Self {
                AnyStage::$name(Box::new(stage))
            }
        })*
    };
}

boxed!(
    Codel(CodelLink<P>),
    FqCodel(FqCodelLink<P>),
    Pie(PieLink<P>),
    Red(RedLink<P>),
    DualPi2(DualPi2Link<P>),
    Netem(Netem),
    Nic(Nic<P>),
);

impl<P: Packet> AnyStage<P> {
    /// When it is busy, if it serves packets at a rate.
    pub(crate) fn busy(&mut self) -> Option<&mut BusyLog> {
        Some(match self {
            AnyStage::Link(link) => link.log(),
            AnyStage::Device(device) => device.log(),
            AnyStage::Codel(link) => link.log(),
            AnyStage::FqCodel(link) => link.log(),
            AnyStage::Pie(link) => link.log(),
            AnyStage::Red(link) => link.log(),
            AnyStage::DualPi2(link) => link.log(),
            AnyStage::SharedLink(link) => link.log(),
            AnyStage::TokenBucket(bucket) => &mut bucket.log,
            _ => return None,
        })
    }
}

/// A link with the queue of its discipline.
impl<P: Packet> Declared<P> for plain::Link {
    type Stage = AnyStage<P>;

    fn build(&self, random: Random) -> AnyStage<P> {
        let line = &self.line;
        match &self.discipline {
            plain::Discipline::DropTail => Link::new(line).into(),
            plain::Discipline::Codel(codel) => {
                ManagedLink::new(line, Codel::new(line, codel)).into()
            }
            plain::Discipline::FqCodel(fair) => {
                ManagedLink::new(line, FqCodel::new(line, fair, random)).into()
            }
            plain::Discipline::Pie(pie) => {
                ManagedLink::new(line, Pie::new(line, pie, random)).into()
            }
            plain::Discipline::Red(red) => {
                ManagedLink::new(line, Red::new(line, red, random)).into()
            }
            plain::Discipline::DualPi2(dual) => {
                ManagedLink::new(line, DualPi2::new(line, dual)).into()
            }
        }
    }
}
