//! Streams of numbered packets other than TCP.

use std::net::SocketAddr;

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Files, Kind, List, Part};

use super::WHAT_IF;
use crate::StreamReport;

type Of = Column<StreamReport>;

/// `rtp 10.0.0.1:4000->10.0.0.2:4000 id 0x1234`; no port where the protocol has none.
pub fn stream_name(stream: &StreamReport) -> String {
    let end = |addr: SocketAddr| match addr.port() {
        0 => addr.ip().to_string(),
        _ => addr.to_string(),
    };
    let service = stream.service.name();
    let (src, dst) = (end(stream.src), end(stream.dst));
    format!("{service} {src}->{dst} id {:#x}", stream.id)
}

/// Columns that name the stream to which a row belongs.
pub static STREAM_NAME: &[Column<StreamReport>] = &[Of::new(
    "stream",
    Kind::Text,
    "Service, ends and identifier.",
    |s| stream_name(s).into(),
)];

/// A stream.
pub static STREAM: &[Column<StreamReport>] = &[
    STREAM_NAME[0]
        .only(Files::None)
        .shown("other numbered streams", 0),
    Of::new(
        "service",
        Kind::Text,
        "rtp, esp, wireguard, icmp-echo or gre.",
        |s| s.service.name().into(),
    ),
    Of::new(
        "src",
        Kind::Text,
        "Address and port; port 0 where the protocol has none.",
        |s| s.src.to_string().into(),
    ),
    Of::new(
        "dst",
        Kind::Text,
        "Address and port of the receiver.",
        |s| s.dst.to_string().into(),
    ),
    Of::new(
        "id",
        Kind::Small,
        "SSRC, SPI, receiver index, echo identifier or GRE key.",
        |s| s.id.into(),
    ),
    // The table has these two between its other columns; files have them among the counts.
    Of::new("packets", Kind::Count, "Packets received.", |s| {
        s.order.received.into()
    })
    .only(Files::None)
    .shown("packets", 0),
    Of::new(
        "missing",
        Kind::Count,
        "Numbers skipped that never arrived.",
        |s| s.missing.into(),
    )
    .shown("missing", 0),
    Of::new(
        "duplicates",
        Kind::Count,
        "Packets that arrived more than once.",
        |s| s.duplicates.into(),
    )
    .shown("duplicates", 2),
    Of::new("late", Kind::Count, "Reordered packets.", |s| {
        s.order.reordered.into()
    })
    .only(Files::None)
    .in_group("reordered", "packets", 0),
    Of::nested(
        "counts",
        "Packets received and reordered.",
        &Part {
            columns: COUNTS,
            of: |s: &StreamReport| &s.order,
        },
    ),
    Of::nested(
        "metrics",
        "Metrics of RFC 4737 and RFC 5236.",
        &Part {
            columns: METRICS,
            of: |s: &StreamReport| &s.order,
        },
    ),
    Of::nested(
        "what_if",
        "What a sorting receiver would have left, if the stream is out of order.",
        &List {
            columns: WHAT_IF,
            of: |s: &StreamReport| &s.what_if,
        },
    ),
];
