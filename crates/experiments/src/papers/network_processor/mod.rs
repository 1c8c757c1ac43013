//! S. Govind, R. Govindarajan, J. Kuri, "Packet reordering in network processors", IPDPS 2007.
//!
//! Constants of the model are fitted on the throughput rows and on table 1; everything else is prediction. The
//! paper does not say how many flows go on at once: table 1 comes out with 32, the chains measure "1 out of 10".
//! It does not say what its "retransmission" counts either; of the readings only packets late by three or more can
//! reach 61 % (a fast retransmission needs three duplicate ACKs besides the packet itself, so 25 % at the most).

mod figures;
mod printed;
mod runs;
mod tables;

use super::{Context, ExperimentError, Item, Paper};
use crate::Findings;

pub(super) const PAPER: Paper = Paper {
    name: "network-processor",
    title: "Govind, Govindarajan, Kuri: Packet reordering in network processors (IPDPS 2007)",
    items: &[
        Item {
            name: "table-1",
            about: "reordering and retransmission over flow sizes, one hop",
            run: tables::table_1,
        },
        Item {
            name: "table-2",
            about: "throughput of ITS and AISR",
            run: tables::table_2,
        },
        Item {
            name: "table-3",
            about: "throughput of the buffer allocations",
            run: tables::table_3,
        },
        Item {
            name: "table-4",
            about: "throughput of Packet Sort over concurrent flows",
            run: tables::table_4,
        },
        Item {
            name: "threads",
            about: "throughput with sixteen threads",
            run: tables::sixteen_threads,
        },
        Item {
            name: "figure-5",
            about: "reordering over hops, 64 and 512 bytes",
            run: figures::figure_5,
        },
        Item {
            name: "figure-7",
            about: "buffer allocations over hops, 64 bytes",
            run: figures::figure_7,
        },
        Item {
            name: "figure-8",
            about: "buffer allocations over hops, 512 bytes",
            run: figures::figure_8,
        },
        Item {
            name: "figure-9",
            about: "number of engines over hops, 64 bytes",
            run: figures::figure_9,
        },
        Item {
            name: "figure-10",
            about: "number of engines over hops, 512 bytes",
            run: figures::figure_10,
        },
        Item {
            name: "figure-11",
            about: "number of threads over hops, 64 bytes",
            run: figures::figure_11,
        },
        Item {
            name: "figure-12",
            about: "number of threads over hops, 512 bytes",
            run: figures::figure_12,
        },
    ],
};
