//! Flows and probes.

use super::application::{Application, Gaps};
use super::endpoint::Endpoint;
use crate::cumulative::Cumulative;
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Count, Count32, CumulativeFile, Duration, Flag, Frequency, Names, Number, One, Packets16, Rate,
    Size, Size32, SizeOrUnlimited, Text,
};
use crate::reader::Reader;

keys! {
    /// TCP connections of one kind.
    pub struct Flow in "flow", check Flow::check {
        /// Name in tables and in grid keys.
        name: Text, default "flow";
        /// Number of connections.
        count: Count32, default "1", in "1"..="10000";
        /// Direction of the data.
        direction: Direction, default "forward";
        /// Time at which the first connection opens.
        start_ns as "start": Duration, default "0 s";
        /// Time between the openings of two connections.
        stagger_ns as "stagger": Duration, default "0 s";
        /// Openings as a Poisson process with this mean rate, instead of `stagger`.
        arrivals_per_s as "arrivals": Frequency, unset "`stagger`", above "0 /s";
        /// Openings at intervals drawn from this file, instead of `stagger`: on each line an interval in seconds and its
        /// cumulative probability, linear between the lines.
        intervals: CumulativeFile, unset "`stagger`";
        /// Time from which the application writes no more data.
        stop_ns as "stop": Duration, unset "with the run";
        /// Data of each connection, which is closed afterwards.
        size_bytes as "size": SizeOrUnlimited, default "unlimited";
        /// How the data sizes of the connections vary around their mean, `size`.
        size_distribution: Sizes, default "constant", with size != "unlimited";
        /// Index of the Pareto distribution; below 2 its variance is infinite.
        size_shape: Number, default "1.2", above "1", with size_distribution = "pareto";
        /// Standard deviation of the logarithm of the sizes.
        size_sigma: Number, default "1", with size_distribution = "lognormal";
        /// Data sizes drawn from this file, instead of `size`: on each line a size in bytes and its cumulative probability, as
        /// for ns-3 and htsim, linear between the lines.
        size_file: CumulativeFile, unset "`size`";
        /// Rate at which the application at the other end reads, instead of at once: with a small buffer it closes its window.
        read_bits_per_s as "read_rate": Rate, unset "at once", above "0 bit/s";
        /// Bytes of each read.
        read_bytes as "read": Size, default "16 kB", from "1 B", with read_rate;
        /// When data is written.
        application: One<Application>, blank "writes whatever TCP takes";
        /// The endpoint that sends the data.
        sender: One<Endpoint>, blank "its defaults";
        /// The endpoint that receives the data; settings that are not given are as at the sender, unless it has a dialect of its
        /// own.
        receiver: Endpoint, like "sender" "as the sender";
        /// What a sender keeps of its connections for the next ones of this `[[flow]]`, which go to the same destination
        /// (Linux's `tcp_metrics`).
        destination_metrics: DestinationMetrics, default "off";
        /// Additional delay in each direction for these connections only.
        access_delay_ns as "access_delay": Duration, default "0 s";
        /// Which path the packets take.
        path: PathUse, default "shared";
        /// The lines that the data passes one after another, from its host to the other host. A route may also
        /// contain the two paths, `forward` and `reverse`.
        route: Names, unset "the path of its direction", with path = "shared";
        /// The lines that the acknowledgements pass.
        return_route: Names, unset "the path of the other direction", with path = "shared";
        /// Records the events of these senders, independent of `output.events`.
        events: Flag, default "false";
    }
}

/// When connections open.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// At this interval, nanoseconds.
    Every(i64),
    /// As a Poisson process with this rate, connections per second.
    Poisson(f64),
    /// At intervals of this distribution, seconds.
    Drawn(Cumulative),
}

impl Flow {
    /// The opening times of connections.
    pub fn arrivals(&self) -> Arrivals {
        match (&self.intervals, self.arrivals_per_s) {
            (Some(file), _) => Arrivals::Drawn(file.clone()),
            (None, Some(rate)) => Arrivals::Poisson(rate),
            (None, None) => Arrivals::Every(self.stagger_ns),
        }
    }

    /// True if each connection carries a certain number of bytes.
    pub fn is_limited(&self) -> bool {
        self.size_bytes.is_some() || self.size_file.is_some()
    }

    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let one = "one of stagger, arrivals and intervals";
        match (&self.intervals, self.arrivals_per_s) {
            (Some(_), _) => {
                r.idle("stagger", "with intervals", one);
                r.idle("arrivals", "with intervals", one);
            }
            (None, Some(_)) => {
                r.idle("stagger", "with arrivals", "either stagger or arrivals");
                r.used("arrivals");
            }
            (None, None) => r.used("stagger"),
        }
        for key in ["size", "size_distribution"] {
            match self.size_file {
                Some(_) => r.idle(key, "with size_file", "either size or size_file"),
                None => r.used(key),
            }
        }
        Ok(())
    }
}

choices! {
    /// Direction of the data.
    pub enum Direction {
        /// From A to B.
        Forward = "forward",
        /// From B to A.
        Reverse = "reverse",
    }
}

choices! {
    /// How the data sizes of connections vary around their mean. Each connection has its own random size.
    pub enum Sizes {
        /// Constant sizes.
        Constant = "constant",
        /// Exponential distribution.
        Exponential = "exponential",
        /// Lognormal distribution.
        Lognormal = "lognormal",
        /// Pareto distribution: most connections are short, a few carry most of the data.
        Pareto = "pareto",
    }
}

choices! {
    /// What a sender keeps of its connections for later ones to the same destination.
    pub enum DestinationMetrics {
        /// Nothing (`tcp_no_metrics_save = 1`).
        Off = "off",
        /// Round-trip time and tolerance of reordering, as Linux does by default.
        Linux = "linux",
        /// Also the slow-start threshold, as Linux did until 5.6 (`tcp_no_ssthresh_metrics_save = 0`).
        LinuxSsthresh = "linux-ssthresh",
    }
}

choices! {
    /// Which path the packets of a flow take.
    pub enum PathUse {
        /// The stages of `[[forward]]` and `[[reverse]]`.
        Shared = "shared",
        /// Only `access_delay`, as from a separate host; they share only the network cards with other flows.
        Own = "own",
    }
}

keys! {
    /// Numbered packets without TCP, as sent by ping or UDP tools.
    pub struct Probe in "probe" {
        /// Name in tables and in grid keys.
        name: Text, default "probe";
        /// Direction of the packets.
        direction: Direction, default "forward";
        /// The lines that the packets pass one after another, from their host to the other host.
        route: Names, unset "the path of their direction";
        /// Rate of the IP packets.
        bits_per_s as "rate": Rate, required, above "0 bit/s";
        /// Size of each packet, including the IP header.
        packet_bytes as "size": Size32, default "1500 B", in "20 B"..="65535 B";
        /// Number of packets.
        count: Count, unset "until the run ends", from "1";
        /// Time at which the first packet is sent.
        start_ns as "start": Duration, default "0 s";
        /// How the times between packets vary.
        gaps: Gaps, default "constant";
        /// Displacement threshold DT of reorder density (RFC 5236 section 3.4).
        threshold as "metrics_threshold": Packets16, default "200 packets", in "1 packet"..="10000 packets";
    }
}
