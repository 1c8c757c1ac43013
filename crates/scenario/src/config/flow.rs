//! Flows and probes.

use super::application::{Application, Gaps};
use super::endpoint::Endpoint;
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Count, Count32, Duration, Flag, Frequency, Names, Number, One, Packets16, Rate, Size32,
    SizeOrUnlimited, Text,
};
use crate::reader::Reader;

keys! {
    /// TCP connections of one kind.
    pub struct Flow in "flow", check Flow::check {
        /// Name in tables and in keys of the grid.
        name: Text, default "flow";
        /// How many connections.
        count: Count32, default "1", in "1"..="10000";
        /// Which way data goes.
        direction: Direction, default "forward";
        /// When the first one opens.
        start_ns as "start": Duration, default "0 s";
        /// Time from one opening to the next.
        stagger_ns as "stagger": Duration, default "0 s";
        /// Openings as a Poisson process with this mean rate, instead of `stagger`.
        arrivals_per_s as "arrivals": Frequency, unset "`stagger`", above "0 /s";
        /// Time from which on nothing more is written.
        stop_ns as "stop": Duration, unset "with the run";
        /// Data of each connection; then it is closed.
        size_bytes as "size": SizeOrUnlimited, default "unlimited";
        /// How the data of the connections varies round its mean, `size`.
        size_distribution: Sizes, default "constant", with size != "unlimited";
        /// Index of the Pareto distribution; below 2 its variance is infinite.
        size_shape: Number, default "1.2", above "1", with size_distribution = "pareto";
        /// When data is written.
        application: One<Application>, blank "writes whatever TCP takes";
        /// The endpoint that sends the data.
        sender: One<Endpoint>, blank "its defaults";
        /// The endpoint that receives it; what is not given is as at the sender.
        receiver: Endpoint, like "sender" "as the sender";
        /// Delay added each way for these connections alone.
        access_delay_ns as "access_delay": Duration, default "0 s";
        /// Which path its packets take.
        path: PathUse, default "shared";
        /// The lines its data passes one after another, from its host to the other one. A route may also name the
        /// two paths, `forward` and `reverse`.
        route: Names, unset "the path of its direction", with path = "shared";
        /// The lines its acknowledgements pass.
        return_route: Names, unset "the path of the other direction", with path = "shared";
        /// Events of these senders are recorded, whatever `output.events` says.
        events: Flag, default "false";
    }
}

/// When connections open.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrivals {
    /// At this distance, nanoseconds.
    Every(i64),
    /// As a Poisson process, connections per second.
    Poisson(f64),
}

impl Flow {
    /// When connections open.
    pub fn arrivals(&self) -> Arrivals {
        match self.arrivals_per_s {
            Some(rate) => Arrivals::Poisson(rate),
            None => Arrivals::Every(self.stagger_ns),
        }
    }

    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        match self.arrivals_per_s {
            Some(_) => r.idle("stagger", "with arrivals", "either stagger or arrivals"),
            None => r.used("stagger"),
        }
        Ok(())
    }
}

choices! {
    /// Which way data goes.
    pub enum Direction {
        /// From A to B.
        Forward = "forward",
        /// From B to A.
        Reverse = "reverse",
    }
}

choices! {
    /// How the data of connections varies round its mean. Each connection draws for itself.
    pub enum Sizes {
        /// Not at all.
        Constant = "constant",
        /// Exponentially.
        Exponential = "exponential",
        /// As a Pareto distribution: most connections are short, a few carry most of the data.
        Pareto = "pareto",
    }
}

choices! {
    /// Which path the packets of a flow take.
    pub enum PathUse {
        /// The stages of `[[forward]]` and `[[reverse]]`.
        Shared = "shared",
        /// They pass nothing but `access_delay`, as from a host of its own, and meet the others' at the cards.
        Own = "own",
    }
}

keys! {
    /// Numbered packets without TCP, as ping or UDP tools send them.
    pub struct Probe in "probe" {
        /// Name in tables and in keys of the grid.
        name: Text, default "probe";
        /// Which way they go.
        direction: Direction, default "forward";
        /// The lines they pass one after another, from their host to the other one.
        route: Names, unset "the path of their direction";
        /// Rate of their IP packets.
        bits_per_s as "rate": Rate, required, above "0 bit/s";
        /// Size of each, from the IP header on.
        packet_bytes as "size": Size32, default "1500 B", in "20 B"..="65535 B";
        /// How many packets.
        count: Count, unset "until the run ends";
        /// When the first one leaves.
        start_ns as "start": Duration, default "0 s";
        /// How the times between departures vary.
        gaps: Gaps, default "constant";
        /// Displacement threshold DT of reorder density (RFC 5236).
        threshold as "metrics_threshold": Packets16, default "200 packets", in "1 packet"..="10000 packets";
    }
}
