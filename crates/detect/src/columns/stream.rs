//! Streams of numbered packets other than TCP.

use std::net::SocketAddr;

use inorder_report::{Column, Digits, Files, Kind};

use crate::StreamReport;

type Of = Column<StreamReport>;

fn if_late(stream: &StreamReport, text: String) -> String {
    if stream.reordered > 0 {
        text
    } else {
        "-".to_owned()
    }
}

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

/// A stream.
pub static STREAM: &[Column<StreamReport>] = &[
    Of::new("stream", Kind::Text, "Service, ends and identifier.", |s| {
        stream_name(s).into()
    })
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
    Of::new(
        "received",
        Kind::Count,
        "Packets received, duplicates not counted.",
        |s| s.received.into(),
    )
    .shown("packets", 0),
    Of::new(
        "reordered",
        Kind::Count,
        "Of these, reordered, RFC 4737 section 3.",
        |s| s.reordered.into(),
    )
    .in_group("reordered", "packets", 0),
    Of::new(
        "ratio",
        Kind::Share,
        "reordered / received, RFC 4737 section 4.1.",
        |s| s.ratio.into(),
    )
    .in_group("reordered", "%", 1),
    Of::new(
        "max_extent",
        Kind::Count,
        "Greatest extent, RFC 4737 section 4.2.",
        |s| s.max_extent.into(),
    )
    .unit("packets")
    .in_group("extent", "max", 0)
    .adapted(if_late),
    Of::new(
        "mean_extent",
        Kind::Number(Digits::Mean),
        "Mean extent of late packets.",
        |s| s.mean_extent.into(),
    )
    .unit("packets")
    .in_group("extent", "mean", 3)
    .adapted(if_late),
    Of::new(
        "max_late_ms",
        Kind::Duration,
        "Greatest late time, RFC 4737 section 4.3.",
        |s| s.max_late_ns.into(),
    )
    .in_group("late", "max", 0)
    .adapted(if_late),
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
    Of::new(
        "mean_displacement",
        Kind::Number(Digits::Fixed(3)),
        "Sum of |displacement| x density of the reorder density, RFC 5236.",
        |s| s.mean_displacement.into(),
    )
    .unit("packets")
    .in_group("displacement", "mean", 3)
    .adapted(if_late),
    Of::new(
        "entropy",
        Kind::Number(Digits::Fixed(3)),
        "Entropy of the reorder density, natural logarithm.",
        |s| s.entropy.into(),
    ),
];
