//! A sorter written in Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use inorder_sim::{MakeSorter, OwnSorter, Packet as Simulated};
use inorder_sort::Meta;
use pyo3::prelude::*;

use super::{Failure, has, instance};
use crate::errors::usage;

/// A packet as a sorter sees it.
#[pyclass(frozen, get_all, eq, hash, module = "inorder")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Packet {
    /// Number in the order of arrival.
    number: u64,
    /// The flow, which is one direction of a connection.
    flow: u32,
    /// Sequence number of the first byte, 32 bits, which wrap.
    seq: u32,
    /// Payload, bytes.
    length: u32,
    /// True for data, which may be held; other packets should pass at once.
    is_data: bool,
}

/// Creates one object for each card.
pub(super) fn make(class: Py<PyAny>, failure: Failure) -> MakeSorter {
    Arc::new(move || {
        let object = instance(&class, &failure);
        Box::new(Sorter {
            has_deadlines: has(object.as_ref(), "deadline_ns"),
            flushes: has(object.as_ref(), "flush"),
            object,
            held: BTreeMap::new(),
            arrived: 0,
            now_ns: i64::MIN,
            failure: failure.clone(),
        })
    })
}

struct Sorter {
    /// `None` if it could not be created: the simulation is about to end.
    object: Option<Py<PyAny>>,
    has_deadlines: bool,
    flushes: bool,
    /// What it has not delivered, by number.
    held: BTreeMap<u64, Simulated>,
    arrived: u64,
    /// The time of the last call.
    now_ns: i64,
    failure: Failure,
}

impl Sorter {
    /// Calls a method and delivers what it returns: packets, or `None`.
    fn call(
        &mut self,
        method: &str,
        packet: Option<Packet>,
        now_ns: i64,
        out: &mut dyn FnMut(Simulated),
    ) {
        self.now_ns = now_ns;
        let Sorter {
            object,
            held,
            failure,
            ..
        } = self;
        let done = object.as_ref().and_then(|object| {
            failure.unless(Python::attach(|py| {
                let object = object.bind(py);
                let given = match packet {
                    Some(packet) => object.call_method1(method, (packet, now_ns))?,
                    None => object.call_method1(method, (now_ns,))?,
                };
                if given.is_none() {
                    return Ok(());
                }
                for packet in given.try_iter()? {
                    let packet = packet?;
                    let number = packet.cast::<Packet>().map_err(PyErr::from)?.get().number;
                    let simulated = held.remove(&number).ok_or_else(|| {
                        usage(format!("{method}: packet {number} was delivered before"))
                    })?;
                    out(simulated);
                }
                Ok(())
            }))
        });
        if done.is_none() {
            self.release(out);
        }
    }

    /// Delivers everything in the order of arrival.
    fn release(&mut self, out: &mut dyn FnMut(Simulated)) {
        std::mem::take(&mut self.held).into_values().for_each(out);
    }
}

impl OwnSorter for Sorter {
    fn push(
        &mut self,
        meta: &Meta<u32>,
        packet: Simulated,
        now_ns: i64,
        out: &mut dyn FnMut(Simulated),
    ) {
        let number = self.arrived;
        self.arrived += 1;
        self.held.insert(number, packet);
        let packet = Packet {
            number,
            flow: meta.flow,
            seq: meta.seq,
            length: meta.len,
            is_data: meta.is_suitable(),
        };
        self.call("push", Some(packet), now_ns, out);
    }

    fn end_of_batch(&mut self, now_ns: i64, out: &mut dyn FnMut(Simulated)) {
        self.call("end_of_batch", None, now_ns, out);
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        let object = self.object.as_ref().filter(|_| self.has_deadlines)?;
        let asked = Python::attach(|py| object.call_method0(py, "deadline_ns")?.extract(py));
        let deadline_ns: Option<i64> = self.failure.unless(asked)?;
        // A deadline in the past would never end.
        deadline_ns.map(|at_ns| at_ns.max(self.now_ns.saturating_add(1)))
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut dyn FnMut(Simulated)) {
        self.call("on_deadline", None, now_ns, out);
    }

    fn flush(&mut self, now_ns: i64, out: &mut dyn FnMut(Simulated)) {
        if self.flushes {
            self.call("flush", None, now_ns, out);
        }
        self.release(out);
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}
