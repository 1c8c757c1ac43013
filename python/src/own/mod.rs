//! Congestion controls, loss detections and sorters written in Python, for teaching and prototypes: a call into Python for each
//! acknowledgement or packet.
//!
//! An exception in one of them ends the simulation and is raised by `simulate`.

mod control;
mod loss;
mod sorter;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use inorder_sim::Own;
use pyo3::prelude::*;

use crate::input::text_beside;
use crate::work::Stop;

pub(crate) use control::{Ack, Loss, Window};
pub(crate) use loss::{Arrival, Outstanding};
pub(crate) use sorter::Packet;

/// Classes, or other callables without arguments, by name.
type Classes = BTreeMap<String, Py<PyAny>>;

/// The classes of each kind.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Algorithms {
    congestion: Classes,
    loss_detection: Classes,
    sorters: Classes,
}

/// The first exception that an algorithm raised, which also stops the simulation.
#[derive(Clone)]
pub(crate) struct Failure {
    first: Arc<Mutex<Option<PyErr>>>,
    stop: Stop,
}

impl Failure {
    /// None so far; `stop` will be set.
    pub(crate) fn new(stop: &Stop) -> Self {
        Failure {
            first: Arc::default(),
            stop: stop.clone(),
        }
    }

    /// What was raised, if anything.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.take()
    }

    /// The value, or `None` after noting the exception.
    fn unless<T>(&self, result: PyResult<T>) -> Option<T> {
        let note = |error: PyErr| {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error);
            self.stop.set();
        };
        result.map_err(note).ok()
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Failure")
    }
}

/// The algorithms for a simulation.
pub(crate) fn own(algorithms: Algorithms, failure: &Failure) -> Own {
    let mut own = Own::reading(text_beside);
    for (name, class) in algorithms.congestion {
        own.add_congestion(interned(&name), control::make(class, failure.clone()));
    }
    for (name, class) in algorithms.loss_detection {
        own.add_loss_detection(interned(&name), loss::make(class, failure.clone()));
    }
    for (name, class) in algorithms.sorters {
        own.add_sorter(&name, sorter::make(class, failure.clone()));
    }
    own
}

/// Results refer to algorithms by names that live as long as the process: each different name is kept once.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// An instance of a class; `None` if that raised an exception.
fn instance(class: &Py<PyAny>, failure: &Failure) -> Option<Py<PyAny>> {
    failure.unless(Python::attach(|py| class.call0(py)))
}

/// True if the object has this method.
fn has(object: Option<&Py<PyAny>>, method: &str) -> bool {
    object
        .is_some_and(|object| Python::attach(|py| object.bind(py).hasattr(method).unwrap_or(false)))
}
