//! Flows, what they carry, and probes.

use super::endpoint::Endpoint;
use crate::Registries;
use crate::error::{Place, Problem};
use crate::quantity::{
    count, duration, flag, frequency, packets, rate, require, size, size_or_unlimited, small_count,
    small_size, text,
};
use crate::reader::Reader;
use crate::schema::{APPLICATION, ENDPOINT, FLOW, PROBE};
use crate::value::Node;

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From A to B.
    Forward,
    /// From B to A.
    Reverse,
}

/// How distances in time vary round their mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gaps {
    /// Not at all.
    Constant,
    /// Exponentially: events are a Poisson process.
    Exponential,
}

/// TCP connections of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// For tables.
    pub name: String,
    /// How many.
    pub count: u32,
    /// Which way data goes.
    pub direction: Direction,
    /// The first one opens, nanoseconds.
    pub start_ns: i64,
    /// The others do.
    pub arrivals: Arrivals,
    /// It writes no more from here on, nanoseconds.
    pub stop_ns: Option<i64>,
    /// Bytes of each connection.
    pub size_bytes: Option<u64>,
    /// When data is written.
    pub application: Application,
    /// Sends the data.
    pub sender: Endpoint,
    /// Receives it.
    pub receiver: Endpoint,
    /// Added each way, nanoseconds.
    pub access_delay_ns: i64,
    /// Its packets pass none of the stages, only the cards.
    pub own_path: bool,
    /// Events of its senders are recorded, whatever the output says.
    pub events: bool,
}

/// When connections open.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrivals {
    /// At this distance, nanoseconds.
    Every(i64),
    /// As a Poisson process, connections per second.
    Poisson(f64),
}

/// When data is written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Application {
    /// Whatever TCP takes.
    Bulk,
    /// At a constant rate.
    Paced {
        /// Bits per second of payload.
        bits_per_s: u64,
        /// Bytes written at once.
        write_bytes: u64,
    },
    /// One request after another, each answered.
    Interactive {
        /// Bytes.
        request_bytes: u64,
        /// Bytes.
        response_bytes: u64,
        /// From a response to the next request, mean, nanoseconds.
        think_ns: i64,
        /// How that varies.
        think_times: Gaps,
    },
}

impl Flow {
    pub(crate) fn read(node: &Node, names: &Registries) -> Result<Self, Problem> {
        let r = Reader::new(&FLOW, node, names)?;
        let nothing = Node::empty(&Place::Default);
        let sender = r.child("sender").unwrap_or(&nothing);
        let receiver = r.child("receiver").unwrap_or(&nothing);
        let application = r.child("application").unwrap_or(&nothing);
        let gap = r.get("stagger", duration)?;
        let poisson = r.maybe("arrivals", frequency)?;
        let flow = Flow {
            name: r.get("name", text)?,
            count: r.get("count", small_count)?,
            direction: direction(r.choice("direction")?),
            start_ns: r.get("start", duration)?,
            arrivals: poisson.map_or(Arrivals::Every(gap), Arrivals::Poisson),
            stop_ns: r.maybe("stop", duration)?,
            size_bytes: r.get("size", size_or_unlimited)?,
            application: Application::read(&Reader::new(&APPLICATION, application, names)?)?,
            sender: Endpoint::read(&Reader::new(&ENDPOINT, sender, names)?)?,
            receiver: Endpoint::read(&Reader::new(&ENDPOINT, receiver, names)?.or(Some(sender)))?,
            access_delay_ns: r.get("access_delay", duration)?,
            own_path: r.choice("path")? == 1,
            events: r.get("events", flag)?,
        };
        require(flow.count > 0, r.place("count"), "no flow", "1 or more")?;
        let few = flow.count <= 10_000;
        require(few, r.place("count"), "too many flows", "at most 10000")?;
        let positive = poisson.is_none_or(|rate| rate > 0.0);
        require(
            positive,
            r.place("arrivals"),
            "no arrivals",
            "more than 0 /s",
        )?;
        Ok(flow)
    }
}

fn direction(position: usize) -> Direction {
    [Direction::Forward, Direction::Reverse][position.min(1)]
}

fn gaps(position: usize) -> Gaps {
    [Gaps::Constant, Gaps::Exponential][position.min(1)]
}

impl Application {
    fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        match r.choice("kind")? {
            1 => Self::paced(r),
            2 => Self::interactive(r),
            _ => Ok(Application::Bulk),
        }
    }

    fn paced(r: &Reader<'_>) -> Result<Self, Problem> {
        let rate = r.maybe("rate", rate)?.ok_or_else(|| r.missing("rate"))?;
        let write_bytes = r.get("write", size)?;
        require(
            rate > 0,
            r.place("rate"),
            "nothing is written",
            "more than 0 bit/s",
        )?;
        require(
            write_bytes > 0,
            r.place("write"),
            "nothing is written",
            "1 B or more",
        )?;
        Ok(Application::Paced {
            bits_per_s: rate,
            write_bytes,
        })
    }

    fn interactive(r: &Reader<'_>) -> Result<Self, Problem> {
        let request_bytes = r.get("request", size)?;
        let response_bytes = r.get("response", size)?;
        require(
            request_bytes > 0,
            r.place("request"),
            "an empty request",
            "1 B or more",
        )?;
        require(
            response_bytes > 0,
            r.place("response"),
            "an empty response",
            "1 B or more",
        )?;
        Ok(Application::Interactive {
            request_bytes,
            response_bytes,
            think_ns: r.get("think", duration)?,
            think_times: gaps(r.choice("think_times")?),
        })
    }
}

/// Numbered packets without TCP.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// For tables.
    pub name: String,
    /// Which way they go.
    pub direction: Direction,
    /// Bits per second of IP packets.
    pub bits_per_s: u64,
    /// Bytes of each from the IP header on.
    pub packet_bytes: u32,
    /// How many; `None`: until the run ends.
    pub count: Option<u64>,
    /// The first one leaves, nanoseconds.
    pub start_ns: i64,
    /// Distances of departures.
    pub gaps: Gaps,
    /// Displacement threshold of reorder density, packets.
    pub threshold: u16,
}

impl Probe {
    pub(crate) fn read(node: &Node, names: &Registries) -> Result<Self, Problem> {
        let r = Reader::new(&PROBE, node, names)?;
        let threshold = r.get("metrics_threshold", packets)?;
        let probe = Probe {
            name: r.get("name", text)?,
            direction: direction(r.choice("direction")?),
            bits_per_s: r.get("rate", rate)?,
            packet_bytes: r.get("size", small_size)?,
            count: r.maybe("count", count)?,
            start_ns: r.get("start", duration)?,
            gaps: gaps(r.choice("gaps")?),
            threshold: threshold.min(u64::from(u16::MAX)) as u16,
        };
        require(
            probe.bits_per_s > 0,
            r.place("rate"),
            "nothing is sent",
            "more than 0 bit/s",
        )?;
        let size = (20..=65_535).contains(&probe.packet_bytes);
        require(
            size,
            r.place("size"),
            "an impossible packet",
            "20 B to 65535 B",
        )?;
        let small = (1..=10_000).contains(&threshold);
        let expected = "1 to 10000 packets";
        require(
            small,
            r.place("metrics_threshold"),
            "an impossible threshold",
            expected,
        )?;
        Ok(probe)
    }
}
