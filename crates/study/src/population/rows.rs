//! The rows of a population: connections with their truth.

use inorder_report::Digits;
use inorder_report::{Field, Kind, Sheet, columns};
use inorder_sim::{EventKind, FlowResult, TruthEvent, TruthFlow};
use inorder_tcp::CaState;

/// A connection that ran.
pub(super) struct Connection {
    /// Its capture.
    pub(super) file: String,
    /// The values of the labels of its network.
    pub(super) labels: Vec<String>,
    /// What was drawn, in the units of the population's file.
    pub(super) settings: Vec<f64>,
    /// The truth without its events.
    pub(super) truth: TruthFlow,
    /// Fast recoveries and time-outs of the sender.
    pub(super) entered: u64,
    /// Of those, the ones in which nothing had been lost.
    pub(super) entered_spurious: u64,
    /// Payload that was delivered.
    pub(super) delivered_bytes: u64,
}

/// Something that happened to an original.
pub(super) struct TruthRow {
    file: String,
    event: TruthEvent,
}

columns! {
    /// The columns of an event.
    pub(super) TRUTH: TruthRow, |row|
    "file": Text, "The capture." => row.file.as_str();
    "kind": Choice(&["reordered", "lost", "refused"]), "What happened."
        => match row.event {
            TruthEvent::Reordered { .. } => "reordered",
            TruthEvent::Lost { .. } => "lost",
            TruthEvent::Refused { .. } => "refused",
        };
    "seq_offset": Count, "Bytes from the flow's first data byte." => place(&row.event).0;
    "len": Count, "Payload bytes." => place(&row.event).1;
    "extent": Count, "Extent, RFC 4737 section 4.2."
        => match row.event { TruthEvent::Reordered { extent, .. } => Some(extent), _ => None }, optional();
    "late_ms": Duration, "Late time, RFC 4737 section 4.3."
        => match row.event { TruthEvent::Reordered { late_ns, .. } => Some(late_ns), _ => None }, optional();
}

/// Offset and length.
fn place(event: &TruthEvent) -> (u64, u64) {
    match *event {
        TruthEvent::Reordered { offset, length, .. }
        | TruthEvent::Lost { offset, length }
        | TruthEvent::Refused { offset, length } => (offset, length),
    }
}

/// The events of a connection.
pub(super) fn events(file: &str, truth: &TruthFlow) -> Vec<TruthRow> {
    let row = |event: &TruthEvent| TruthRow {
        file: file.to_owned(),
        event: *event,
    };
    truth.events.iter().map(row).collect()
}

columns! {
    /// What connections have beside labels and settings.
    SUMS: Connection, |c|
    "data_packets": Count, "Original transmissions." => c.truth.data_packets;
    "reordered": Count, "Of those, reordered and accepted by the receiver." => c.truth.reordered;
    "losses": Count, "Of those, lost." => c.truth.losses;
    "refused": Count, "Of those, discarded by the receiver although it lacked the bytes." => c.truth.refused;
    "needed": Count, "Needed retransmissions." => c.truth.needed;
    "spurious": Count, "Spurious retransmissions." => c.truth.spurious;
    "recoveries": Count, "Recovery phases, as `analyze` counts them: from a retransmission until what had been sent by then is acknowledged."
        => c.truth.recoveries;
    "recoveries_spurious": Count, "Of those, the ones in which every retransmission was spurious."
        => c.truth.recoveries_spurious;
    "entered": Count, "Fast recoveries and time-outs of the sender, which leaves one early when its reduction is undone."
        => c.entered;
    "entered_spurious": Count, "Of those, the ones in which nothing that it retransmitted had been lost or refused."
        => c.entered_spurious;
    "delivered_bytes": Bytes, "Payload that was delivered." => c.delivered_bytes;
}

/// The columns of a connection: its capture, its labels, what was drawn, and the truth.
pub(super) fn sheet<'c>(labels: &'c [String], keys: &'c [String]) -> Sheet<'c, Connection> {
    let file = Field::new("file", Kind::Text, "The capture.");
    let mut sheet = Sheet::new().and(file, |c: &Connection| c.file.as_str().into());
    for (at, name) in labels.iter().enumerate() {
        let field = Field::new(name, Kind::Text, "A label of its network.");
        sheet = sheet.and(field, move |c: &Connection| {
            c.labels.get(at).map_or("", String::as_str).into()
        });
    }
    for (at, name) in keys.iter().enumerate() {
        let about = "What was drawn, in the unit of the population's file.";
        let field = Field::new(name, Kind::Number(Digits::Short), about);
        sheet = sheet.and(field, move |c: &Connection| {
            c.settings.get(at).copied().unwrap_or(f64::NAN).into()
        });
    }
    sheet.with(SUMS, |c: &Connection| c)
}

/// Recoveries that the sender entered and in which everything that it retransmitted had arrived, or was on its way: the
/// definition of the mobile-network paper, section V-B ("a recovery is spurious if all the retransmissions are caused
/// by reordering"), applied to time-outs as well, as `analyze` does.
pub(super) fn spurious_entries(flow: &FlowResult, truth: &TruthFlow) -> u64 {
    let Some(isn) = truth.isn else {
        return 0;
    };
    let lost = truth.events.iter().filter_map(|event| match *event {
        TruthEvent::Lost { offset, length } | TruthEvent::Refused { offset, length } => {
            Some(offset..offset + length)
        }
        TruthEvent::Reordered { .. } => None,
    });
    let mut lost: Vec<_> = lost.collect();
    lost.sort_unstable_by_key(|range| range.start);
    let is_lost = |start: u64, end: u64| {
        let next = lost.partition_point(|range| range.end <= start);
        lost.get(next).is_some_and(|range| range.start < end)
    };
    // Whether something was retransmitted in a recovery, and whether any of it had been lost.
    let (mut count, mut of_recovery) = (0, None);
    let mut close = |recovery: &mut Option<bool>| {
        count += u64::from(recovery.take() == Some(false));
    };
    for event in &flow.events {
        match &event.kind {
            // A tail loss probe, for example, is sent outside recoveries.
            EventKind::Retransmission(sent) if is_recovery(sent.state) => {
                // Connections of a population carry less than 4 GiB.
                let offset = |seq: u32| u64::from(seq.wrapping_sub(isn.wrapping_add(1)));
                let (start, end) = (offset(sent.start as u32), offset(sent.end as u32));
                *of_recovery.get_or_insert(false) |= is_lost(start, end.max(start + 1));
            }
            EventKind::State(to) if !is_recovery(*to) => close(&mut of_recovery),
            _ => {}
        }
    }
    // A recovery that the end of the run cuts off is not counted if it may be about packets whose fate is not known.
    if truth.undecided == 0 && truth.undecided_retransmissions == 0 {
        close(&mut of_recovery);
    }
    count
}

fn is_recovery(state: CaState) -> bool {
    matches!(state, CaState::Recovery | CaState::Loss)
}
