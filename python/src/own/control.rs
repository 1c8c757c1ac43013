//! A congestion control written in Python.

use std::sync::Arc;

use inorder_sim::MakeControl;
use inorder_tcp::congestion::{self as tcp, AckEvent, CongestionControl, Event, LossEvent, Start};
use pyo3::prelude::*;

use super::{Failure, has, instance};

/// The sender's window, in segments.
#[pyclass(module = "inorder")]
pub struct Window {
    /// Congestion window.
    #[pyo3(get, set)]
    cwnd: u32,
    /// Slow-start threshold; 2^32 - 1 until the first loss.
    #[pyo3(get, set)]
    ssthresh: u32,
    /// Segments acknowledged since `cwnd` last grew in congestion avoidance.
    #[pyo3(get, set)]
    count: u32,
    clamp: u32,
    before_loss: u32,
}

impl Window {
    fn of(window: &tcp::Window) -> Self {
        Window {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            count: window.count,
            clamp: window.clamp,
            before_loss: window.before_loss,
        }
    }

    fn plain(&self) -> tcp::Window {
        tcp::Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            count: self.count,
            clamp: self.clamp,
            before_loss: self.before_loss,
        }
    }
}

#[pymethods]
impl Window {
    /// True below the slow-start threshold.
    fn in_slow_start(&self) -> bool {
        self.plain().in_slow_start()
    }

    /// Grows by `acked` segments up to the threshold (RFC 5681 section 3.1); returns how many are left.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let mut window = self.plain();
        let left = window.slow_start(acked);
        *self = Window::of(&window);
        left
    }

    /// Grows by one segment for `per` segments acknowledged; `per` of `cwnd` is Reno's.
    fn additive_increase(&mut self, per: u32, acked: u32) {
        let mut window = self.plain();
        window.additive_increase(per, acked);
        *self = Window::of(&window);
    }

    fn __repr__(&self) -> String {
        format!("<Window, cwnd {}, ssthresh {}>", self.cwnd, self.ssthresh)
    }
}

/// An acknowledgement of new data.
#[pyclass(frozen, get_all, module = "inorder")]
pub(crate) struct Ack {
    now_ns: i64,
    acked: u32,
    in_flight: u32,
    cwnd_limited: bool,
    rtt_ns: Option<i64>,
    srtt_ns: i64,
    min_rtt_ns: i64,
    mss: u32,
}

impl Ack {
    fn of(ack: &AckEvent) -> Self {
        Ack {
            now_ns: ack.now,
            acked: ack.acked,
            in_flight: ack.in_flight,
            cwnd_limited: ack.cwnd_limited,
            rtt_ns: ack.rtt,
            srtt_ns: ack.srtt,
            min_rtt_ns: ack.min_rtt,
            mss: ack.mss,
        }
    }
}

/// A time at which the window must be reduced.
#[pyclass(frozen, get_all, module = "inorder")]
pub(crate) struct Loss {
    now_ns: i64,
    in_flight: u32,
    timeout: bool,
}

/// Creates one object for each connection.
pub(super) fn make(class: Py<PyAny>, failure: Failure) -> MakeControl {
    Arc::new(move || {
        let object = instance(&class, &failure);
        let has = |method| has(object.as_ref(), method);
        Box::new(Control {
            starts: has("start"),
            measures: has("measure"),
            undoes: has("undo_cwnd"),
            hears: has("event"),
            object,
            failure: failure.clone(),
        })
    })
}

#[derive(Debug)]
struct Control {
    /// `None` if it could not be created: the simulation is about to end.
    object: Option<Py<PyAny>>,
    starts: bool,
    measures: bool,
    undoes: bool,
    hears: bool,
    failure: Failure,
}

impl Control {
    /// Calls a method with the window, which it may change, and what `more` makes.
    fn call<T>(
        &self,
        window: &mut tcp::Window,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, &Bound<'py, Window>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        self.failure.unless(Python::attach(|py| {
            let shown = Bound::new(py, Window::of(window))?;
            let result = call(object.bind(py), &shown)?;
            *window = shown.borrow().plain();
            Ok(result)
        }))
    }
}

impl CongestionControl for Control {
    fn start(&mut self, window: &mut tcp::Window, start: &Start) {
        if self.starts {
            let (mss, now_ns) = (start.mss, start.now);
            self.call(window, |object, window| {
                object.call_method1("start", (window, mss, now_ns))?;
                Ok(())
            });
        }
    }

    fn measure(&mut self, window: &mut tcp::Window, ack: &AckEvent) {
        if self.measures {
            self.call(window, |object, window| {
                object.call_method1("measure", (window, Ack::of(ack)))?;
                Ok(())
            });
        }
    }

    fn grow(&mut self, window: &mut tcp::Window, ack: &AckEvent) {
        self.call(window, |object, window| {
            object.call_method1("grow", (window, Ack::of(ack)))?;
            Ok(())
        });
    }

    fn ssthresh(&mut self, window: &tcp::Window, loss: &LossEvent) -> u32 {
        let loss = Loss {
            now_ns: loss.now,
            in_flight: loss.in_flight,
            timeout: loss.timeout,
        };
        let asked = self.call(&mut window.clone(), |object, window| {
            object.call_method1("ssthresh", (window, loss))?.extract()
        });
        asked.unwrap_or(2)
    }

    fn undo_cwnd(&mut self, window: &tcp::Window) -> u32 {
        let usual = window.cwnd.max(window.before_loss);
        if !self.undoes {
            return usual;
        }
        let asked = self.call(&mut window.clone(), |object, window| {
            object.call_method1("undo_cwnd", (window,))?.extract()
        });
        asked.unwrap_or(usual)
    }

    fn event(&mut self, window: &mut tcp::Window, event: Event, now: i64) {
        if self.hears {
            let name = match event {
                Event::DupAck { .. } => "dup_ack",
                Event::RecoveryStart => "recovery_start",
                Event::RecoveryEnd => "recovery_end",
                Event::Open => "open",
                Event::ThresholdAtTimeout => return,
                Event::Timeout => "timeout",
                Event::Undo => "undo",
                Event::Restart { .. } => "restart",
            };
            self.call(window, |object, window| {
                object.call_method1("event", (window, name, now))?;
                Ok(())
            });
        }
    }
}
