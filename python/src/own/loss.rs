//! A loss detection written in Python.

use std::sync::Arc;

use inorder_sim::MakeLossDetection;
use inorder_tcp::Nanos;
use inorder_tcp::loss::{AckNews, Context, LossDetection, Verdict};
use pyo3::prelude::*;

use super::{Failure, has, instance};

/// What the sender has outstanding, in segments, and its times.
#[pyclass(module = "inorder")]
pub struct Outstanding {
    /// Time.
    #[pyo3(get)]
    now_ns: i64,
    /// Segments outstanding.
    #[pyo3(get)]
    packets: u32,
    /// Of these, reported as received.
    #[pyo3(get)]
    sacked: u32,
    /// Of these, taken for lost.
    #[pyo3(get)]
    lost: u32,
    /// Segments from the oldest outstanding to the highest reported one, holes included.
    #[pyo3(get)]
    span: u32,
    /// Smoothed round-trip time, 0 before the first measurement.
    #[pyo3(get)]
    srtt_ns: i64,
    /// Smallest round-trip time, 0 before the first measurement.
    #[pyo3(get)]
    min_rtt_ns: i64,
    /// True in fast recovery or after a time-out.
    #[pyo3(get)]
    recovering: bool,
    /// Thresholds by which segments are to be marked.
    marks: Vec<u32>,
}

impl Outstanding {
    fn of(cx: &Context<'_>) -> Self {
        Outstanding {
            now_ns: cx.now,
            packets: cx.board.packets_out(),
            sacked: cx.board.sacked_out(),
            lost: cx.board.lost_out(),
            span: cx.board.fackets_out(),
            srtt_ns: cx.srtt,
            min_rtt_ns: cx.min_rtt,
            recovering: cx.recovering(),
            marks: Vec::new(),
        }
    }
}

#[pymethods]
impl Outstanding {
    /// Takes every segment for lost that has at least `threshold` segments above it reported as received (RFC 6675
    /// IsLost, in segments). It happens when the call returns.
    fn mark_lost(&mut self, threshold: u32) {
        self.marks.push(threshold.max(1));
    }
}

/// An acknowledgement, as a loss detection sees it.
#[pyclass(frozen, get_all, module = "inorder")]
pub(crate) struct Arrival {
    /// True if the first unacknowledged byte moved.
    advances: bool,
    /// True for a duplicate acknowledgement (RFC 5681 section 2).
    duplicate: bool,
    /// True with SACK blocks.
    has_sack: bool,
    /// True if it reports a segment that arrived twice (RFC 2883).
    has_dsack: bool,
    /// Segments reported as received for the first time.
    delivered: usize,
    /// Round-trip time that it measured.
    rtt_ns: Option<i64>,
}

impl Arrival {
    fn of(ack: &AckNews<'_>) -> Self {
        Arrival {
            advances: ack.advances(),
            duplicate: ack.duplicate,
            has_sack: ack.has_sack,
            has_dsack: ack.dsack.is_some(),
            delivered: ack.delivered.len(),
            rtt_ns: ack.rtt,
        }
    }
}

/// Creates one object for each connection.
pub(super) fn make(class: Py<PyAny>, failure: Failure) -> MakeLossDetection {
    Arc::new(move || {
        let object = instance(&class, &failure);
        let has = |method| has(object.as_ref(), method);
        Box::new(Detection {
            has_deadlines: has("deadline_ns"),
            hears_timeouts: has("on_timeout"),
            has_threshold: has("dupthresh"),
            object,
            failure: failure.clone(),
        })
    })
}

#[derive(Debug)]
struct Detection {
    /// `None` if it could not be created: the simulation is about to end.
    object: Option<Py<PyAny>>,
    has_deadlines: bool,
    hears_timeouts: bool,
    has_threshold: bool,
    failure: Failure,
}

impl Detection {
    /// Calls a method with what is outstanding, marks what it asks for, and begins a recovery if something is lost then.
    fn call(
        &self,
        cx: &mut Context<'_>,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, &Bound<'py, Outstanding>) -> PyResult<()>,
    ) -> Verdict {
        let marks = self.object.as_ref().and_then(|object| {
            self.failure.unless(Python::attach(|py| {
                let shown = Bound::new(py, Outstanding::of(cx))?;
                call(object.bind(py), &shown)?;
                let marks = std::mem::take(&mut shown.borrow_mut().marks);
                Ok(marks)
            }))
        });
        for threshold in marks.into_iter().flatten() {
            cx.board.mark_by_threshold(threshold);
        }
        Verdict {
            recover: cx.board.lost_out() > 0,
            ..Verdict::default()
        }
    }

    /// What a method without arguments returns, or `otherwise` after an exception.
    fn ask<T>(&self, method: &str, otherwise: T) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        let asked = self.object.as_ref().and_then(|object| {
            self.failure.unless(Python::attach(|py| {
                let asked = object.bind(py).call_method0(method)?;
                asked.extract().map_err(Into::into)
            }))
        });
        asked.unwrap_or(otherwise)
    }
}

impl LossDetection for Detection {
    fn dupthresh(&self) -> u32 {
        match self.has_threshold {
            true => self.ask("dupthresh", 0),
            false => 0,
        }
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.call(cx, |object, outstanding| {
            object.call_method1("on_ack", (outstanding, Arrival::of(ack)))?;
            Ok(())
        })
    }

    fn next_timer(&self) -> Option<Nanos> {
        match self.has_deadlines {
            true => self.ask("deadline_ns", None),
            false => None,
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) -> Verdict {
        let now_ns = cx.now;
        let verdict = self.call(cx, |object, outstanding| {
            object.call_method1("on_deadline", (outstanding,))?;
            Ok(())
        });
        // A deadline that stays in the past would be called for ever.
        if self.next_timer().is_some_and(|next| next <= now_ns) {
            self.failure.unless::<()>(Err(crate::errors::usage(
                "deadline_ns: expected a time after the one that on_deadline was called at, or None",
            )));
            self.has_deadlines = false;
        }
        verdict
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        if self.hears_timeouts {
            self.call(cx, |object, outstanding| {
                object.call_method1("on_timeout", (outstanding,))?;
                Ok(())
            });
        }
    }
}
