//! When a flow writes data.

use crate::declare::{choices, keys};
use crate::kind::{Duration, Rate, Size};

keys! {
    /// When data is written.
    pub enum Application in "flow.application" {
        /// What the application does.
        by kind, default "bulk";
        /// It always writes as much as TCP accepts.
        Bulk = "bulk",
        /// It writes at a constant rate.
        Paced = "paced" {
            /// Payload written per second.
            bits_per_s as "rate": Rate, required, above "0 bit/s";
            /// Bytes of each write.
            write_bytes as "write": Size, default "1448 B", from "1 B";
        },
        /// It sends one request after another; each one is answered.
        Interactive = "interactive" {
            /// Size of a request.
            request_bytes as "request": Size, default "100 B", from "1 B";
            /// Size of a response.
            response_bytes as "response": Size, default "1000 B", from "1 B";
            /// Time from the last byte of a response to the next request.
            think_ns as "think": Duration, default "10 ms";
            /// How think times vary around their mean.
            think_times: Gaps, default "constant";
        },
    }
}

choices! {
    /// How time intervals vary around their mean.
    pub enum Gaps {
        /// Constant intervals.
        Constant = "constant",
        /// Exponential intervals: the events are a Poisson process.
        Exponential = "exponential",
    }
}
