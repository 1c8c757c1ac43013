//! What a program that simulates adds to these crates: its own congestion controls, loss detections and sorters, and a
//! function that reads the files which scenarios name.

use std::sync::Arc;

use inorder_scenario::FileReader;
use inorder_sort::{Counters, Meta, Sorter};
use inorder_tcp::congestion::CongestionControl;
use inorder_tcp::loss::LossDetection;

use crate::packet::Packet;

/// Creates a congestion control for a connection.
pub type MakeControl = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// Creates a loss detection for a connection.
pub type MakeLossDetection = Arc<dyn Fn() -> Box<dyn LossDetection> + Send + Sync>;

/// Creates a sorter for a card.
pub type MakeSorter = Arc<dyn Fn() -> Box<dyn OwnSorter> + Send + Sync>;

/// A sorter behind a pointer: [`Sorter`], whose functions are generic, for packets of the simulator. Every packet pushed
/// must come out once.
pub trait OwnSorter: Send {
    /// A packet arrives.
    fn push(&mut self, meta: &Meta<u32>, packet: Packet, now_ns: i64, out: &mut dyn FnMut(Packet));

    /// The ring is empty: the stack gets its turn.
    fn end_of_batch(&mut self, now_ns: i64, out: &mut dyn FnMut(Packet));

    /// When [`OwnSorter::on_deadline`] must be called, although nothing arrives.
    fn next_deadline_ns(&self) -> Option<i64> {
        None
    }

    /// That time has come.
    fn on_deadline(&mut self, _now_ns: i64, _out: &mut dyn FnMut(Packet)) {}

    /// Gives back everything held.
    fn flush(&mut self, now_ns: i64, out: &mut dyn FnMut(Packet));

    /// Packets held now.
    fn held(&self) -> usize;
}

/// Algorithms of a program's own, by the names that scenarios use.
#[derive(Clone, Default)]
pub struct Own {
    congestion: Vec<(&'static str, MakeControl)>,
    loss: Vec<(&'static str, MakeLossDetection)>,
    sorters: Vec<(String, MakeSorter)>,
    read_file: Option<FileReader>,
}

/// The names of a program's own algorithms.
pub(crate) struct Names<'a> {
    pub(crate) congestion: Vec<&'a str>,
    pub(crate) loss: Vec<&'a str>,
    pub(crate) sorters: Vec<&'a str>,
}

impl Own {
    /// No algorithms, but a function that reads the files which scenarios name.
    pub fn reading(read_file: FileReader) -> Self {
        Own {
            read_file: Some(read_file),
            ..Own::default()
        }
    }

    pub(crate) fn reader(&self) -> Option<FileReader> {
        self.read_file
    }

    /// Adds a congestion control; it goes before one of the same name in the registry.
    pub fn add_congestion(&mut self, name: &'static str, make: MakeControl) {
        self.congestion.push((name, make));
    }

    /// Adds a loss detection; it goes before one of the same name in the registry.
    pub fn add_loss_detection(&mut self, name: &'static str, make: MakeLossDetection) {
        self.loss.push((name, make));
    }

    /// Adds a sorter; it goes before one of the same name in the registry. A name has no colon.
    pub fn add_sorter(&mut self, name: &str, make: MakeSorter) {
        self.sorters.push((name.to_owned(), make));
    }

    pub(crate) fn names(&self) -> Names<'_> {
        Names {
            congestion: self.congestion.iter().map(|(name, _)| *name).collect(),
            loss: self.loss.iter().map(|(name, _)| *name).collect(),
            sorters: self.sorters.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }

    pub(crate) fn control(&self, name: &str) -> Option<(&'static str, MakeControl)> {
        let found = self.congestion.iter().find(|(own, _)| *own == name);
        found.map(|(name, make)| (*name, Arc::clone(make)))
    }

    pub(crate) fn loss_detection(&self, name: &str) -> Option<(&'static str, MakeLossDetection)> {
        let found = self.loss.iter().find(|(own, _)| *own == name);
        found.map(|(name, make)| (*name, Arc::clone(make)))
    }

    pub(crate) fn sorter(&self, name: &str) -> Option<Boxed> {
        let found = self.sorters.iter().find(|(own, _)| own == name);
        found.map(|(_, make)| Boxed {
            sorter: make(),
            counters: Counters::default(),
        })
    }
}

/// Makes an [`OwnSorter`] a [`Sorter`].
pub(crate) struct Boxed {
    sorter: Box<dyn OwnSorter>,
    counters: Counters,
}

impl Sorter<u32, Box<Packet>> for Boxed {
    fn push(
        &mut self,
        meta: &Meta<u32>,
        packet: Box<Packet>,
        now_ns: i64,
        out: &mut (impl FnMut(Box<Packet>) + ?Sized),
    ) {
        match meta.is_suitable() {
            true => self.counters.suitable += 1,
            false => self.counters.unsuitable += 1,
        }
        self.sorter
            .push(meta, *packet, now_ns, &mut |p| out(Box::new(p)));
    }

    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.counters.batches += 1;
        self.sorter.end_of_batch(now_ns, &mut |p| out(Box::new(p)));
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        self.sorter.next_deadline_ns()
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.sorter.on_deadline(now_ns, &mut |p| out(Box::new(p)));
    }

    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.sorter.flush(now_ns, &mut |p| out(Box::new(p)));
    }

    fn held(&self) -> usize {
        self.sorter.held()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    /// What the sorter itself takes is not known here.
    fn memory_footprint(&self) -> usize {
        size_of::<Self>() + self.sorter.held() * size_of::<Packet>()
    }
}
