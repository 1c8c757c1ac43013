//! The details of one flow, as lines of text.

use std::io::{self, Write};

use inorder_detect::{
    AfterTimeout, Bounds, Distribution, Duplicates, Echo, Event, FastOpen, FlowReport, Habits,
    Host, Identification, NotSeen, Reordering, StreamReport, TooOld, Vantage, WhatIf,
};

use super::Style;
use crate::flows::{EVENT, WHAT_IF, name};
use crate::headline::stream_remarks;
use crate::limits::labels_of;
use crate::what_if::{WhatIfSays, rank};
use crate::words;
use inorder_report::number::{bytes, count, mean, plural, time, time_u64};
use inorder_report::text::{self, paragraph};

/// Column in which the text of the facts begins; their labels are to the left of it.
const LABEL: usize = 16;
/// Maximum number of events printed per flow; all of them are in JSON, CSV and Parquet.
const EVENTS: usize = 12;

/// Writes the details of one flow.
pub(super) fn write(out: &mut dyn Write, flow: &FlowReport, style: &Style) -> io::Result<()> {
    let (bold, plain) = style.bold();
    writeln!(out, "{bold}{}{plain}", name(&flow.flow))?;
    for (label, text) in facts(flow) {
        let first = format!("  {label:<w$}{text}", w = LABEL - 2);
        let indent = " ".repeat(LABEL);
        write_fact(out, &first, &indent, style)?;
    }
    if matches!(WhatIfSays::of(flow), WhatIfSays::Best(_)) {
        compared(out, &flow.what_if, style)?;
    }
    if style.events {
        events(out, &flow.records.events, style)?;
    }
    Ok(())
}

/// Writes the line of one fact. Wrapping at the line width must keep the padding of the label.
fn write_fact(out: &mut dyn Write, line: &str, indent: &str, style: &Style) -> io::Result<()> {
    let (label, text) = line.split_at(line.len().min(LABEL));
    write!(out, "{label}")?;
    let width = style.width.map(|w| w.saturating_sub(LABEL));
    let mut broken = Vec::new();
    paragraph(&mut broken, text, "", width)?;
    let broken = String::from_utf8_lossy(&broken).replace('\n', &format!("\n{indent}"));
    writeln!(out, "{}", broken.trim_end())
}

/// The facts that apply to this flow, as label and text.
pub(crate) fn facts(flow: &FlowReport) -> Vec<(&'static str, String)> {
    let order = &flow.reordering;
    let mut facts = vec![("vantage", vantage(flow)), ("connection", connection(flow))];
    facts.extend(handshake(flow).map(|text| ("handshake", text)));
    if order.reordered > 0 {
        facts.extend(lateness(order, &bounds(flow)));
    }
    facts.extend(discarded(flow).map(|text| ("discarded", text)));
    if order.ambiguous > 0 {
        facts.push((
            "undecided",
            format!("{} not counted", plural(order.ambiguous, "event")),
        ));
    }
    if flow.bursts.count > 0 {
        facts.push(("bursts", bursts(flow)));
    }
    if flow.recoveries.total > 0 {
        facts.push(("recoveries", recoveries(flow)));
    }
    facts.extend(closing(flow).map(|text| ("closing", text)));
    facts.extend(limits(flow).map(|text| ("limits", text)));
    facts.extend(
        WhatIfSays::of(flow)
            .sentence()
            .map(|text| ("if sorted", text)),
    );
    facts.extend(upstream(flow).map(|text| ("upstream", text)));
    facts.extend(ack_path(flow).map(|text| ("ACK path", text)));
    facts.extend(artefacts(flow).map(|text| ("capture", text)));
    facts
}

/// What arrived and the receiver did not take.
fn discarded(flow: &FlowReport) -> Option<String> {
    let packets = &flow.originals;
    let said = [
        (packets.too_old(), "late with too old a timestamp"),
        (packets.outside_window, "outside the receiver's window"),
        (packets.reneged, "that the receiver had reported before"),
    ];
    let said = said.iter().filter(|(n, _)| *n > 0);
    let said: Vec<String> = said
        .map(|(n, why)| format!("{} {why}", plural(*n, "packet")))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// What was out of the ordinary when the connection was opened.
fn handshake(flow: &FlowReport) -> Option<String> {
    let opening = &flow.endpoints.handshake;
    let again = (opening.syns_again > 0).then(|| {
        let syns = plural(opening.syns_again, "SYN");
        format!("{syns} sent again, over {}", time(opening.waited_ns))
    });
    let early = opening.fast_open.map(|early| match early {
        FastOpen::Accepted => "data in the SYN was taken (TCP Fast Open)".to_owned(),
        _ => "data in the SYN was refused and sent once more (TCP Fast Open)".to_owned(),
    });
    let said: Vec<String> = again.into_iter().chain(early).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// What was out of the ordinary when the connection was closed.
fn closing(flow: &FlowReport) -> Option<String> {
    let closing = flow.endpoints.closing;
    let again = (closing.fins_again > 0).then(|| {
        let answer = match closing.acknowledged {
            true => "",
            false => ", never acknowledged",
        };
        let fins = plural(closing.fins_again, "FIN");
        format!(
            "{fins} sent again, over {}{answer}",
            time(closing.waited_ns)
        )
    });
    let reset = closing.reset_by.map(|by| {
        let host = match by {
            Host::Sender => "sender",
            _ => "receiver",
        };
        match (closing.reset_ttls, closing.closed_before) {
            (Some((ttl, syn)), _) => format!(
                "reset in the name of the {host} by something on the way (time to live {ttl}, of its SYN {syn})"
            ),
            (None, true) => format!("reset by the {host}, which had closed its side"),
            (None, false) => format!("reset by the {host}"),
        }
    });
    let behind = (closing.again_behind_reset > 0).then(|| {
        let packets = plural(closing.again_behind_reset, "packet");
        format!("{packets} sent again behind the receiver's reset")
    });
    let silence = closing.silence.map(|silence| {
        let sent = plural(silence.keep_alives, "keep-alive");
        format!("{sent} without an answer, over {}", time(silence.ns))
    });
    let said: Vec<String> = again
        .into_iter()
        .chain(silence)
        .chain(reset)
        .chain(behind)
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Limits of less than this share of the life are not listed.
const MIN_LIMIT: f64 = 0.005;

/// What limited the transfer, the longest first.
fn limits(flow: &FlowReport) -> Option<String> {
    let limits = &flow.limits;
    let of_life = |ns: i64| ns as f64 / limits.life_ns().max(1) as f64;
    let told = limits.shares.iter();
    let told = told.filter(|share| of_life(share.ns) >= MIN_LIMIT);
    let told: Vec<String> = told
        .map(|share| {
            format!(
                "{} {:.0} %",
                labels_of(flow, share.limits),
                of_life(share.ns) * 100.0
            )
        })
        .collect();
    (!told.is_empty()).then(|| told.join(" \u{b7} "))
}

/// The facts that apply to this stream, as label and text.
pub(crate) fn stream_facts(stream: &StreamReport) -> Vec<(&'static str, String)> {
    let order = &stream.order;
    let lasted = stream.last_ns.saturating_sub(stream.first_ns);
    let mut facts = vec![(
        "stream",
        format!(
            "{} in {}, {} missing, {} more than once",
            plural(order.received, "packet"),
            time(lasted),
            count(stream.skipped.missing),
            count(stream.twice.duplicates)
        ),
    )];
    let remarks = stream_remarks(stream).into_iter();
    facts.extend(remarks.map(|text| ("numbers", text)));
    if order.reordered > 0 {
        facts.extend(lateness(order, ""));
    }
    facts.extend(replay(stream).map(|text| ("replay window", text)));
    facts.extend(multipath(stream).map(|text| ("subflows", text)));
    facts.extend(repeats(stream).map(|text| ("repeats", text)));
    facts.extend(reported(stream).map(|text| ("reported", text)));
    facts
}

/// What anti-replay windows would have refused, if packets were late.
fn replay(stream: &StreamReport) -> Option<String> {
    let replay = stream.replay.as_ref().filter(|replay| replay.needed > 1)?;
    let windows: Vec<String> = replay
        .windows
        .iter()
        .filter(|w| w.accepts.is_none_or(|share| share == 0.99))
        .map(|w| match w.accepts {
            None => format!("{} refuses {}", count(w.window), count(w.refused)),
            Some(_) => format!("{} accepts 99 % of the late", count(w.window)),
        })
        .collect();
    Some(format!(
        "{}; {} refuses none",
        windows.join(", "),
        count(replay.needed)
    ))
}

/// What the subflows of Multipath TCP did to the data.
fn multipath(stream: &StreamReport) -> Option<String> {
    let found = stream.multipath.as_ref()?;
    let waits = &found.waits;
    Some(format!(
        "{}; {} late packets were in order on their own; a byte waited {} on average, at most {} ({} in the queue)",
        plural(found.subflows, "subflow"),
        count(found.across),
        time_u64(waits.mean_ns()),
        time_u64(waits.max_ns),
        bytes(waits.most_bytes)
    ))
}

/// Retransmissions that are marked as such.
fn repeats(stream: &StreamReport) -> Option<String> {
    let repeats = &stream.twice.repeats;
    (repeats.packets > 0).then(|| {
        format!(
            "{}: {} for a lost packet, {} for one that had arrived",
            plural(repeats.packets, "retransmission"),
            count(repeats.needed),
            count(repeats.spurious)
        )
    })
}

/// What the receiver reported.
fn reported(stream: &StreamReport) -> Option<String> {
    let reported = stream.reported.as_ref()?;
    Some(format!(
        "{} of {} with gaps: {} missing at first and late, {} missing and sent again",
        count(reported.with_gaps),
        plural(reported.reports, "report"),
        count(reported.late),
        count(reported.repeated)
    ))
}

/// How many of the extents are bounds, and why.
fn bounds(flow: &FlowReport) -> String {
    let of = flow.reordering.reordered;
    let told = |n: u64, bound: &str, why: &str| match n {
        0 => String::new(),
        n if n == of => format!("; {bound}: {why}"),
        n => format!("; {} of {} {bound}: {why}", count(n), count(of)),
    };
    let Bounds { at_most, at_least } = flow.bounds;
    let together = "one acknowledgement reported several arrivals";
    told(at_most, "at most", together)
        + &told(
            at_least,
            "at least",
            "not every arrival shows in the acknowledgements",
        )
}

/// How late packets were.
fn lateness(order: &Reordering, bounds: &str) -> Vec<(&'static str, String)> {
    if order.extents.count() == 0 {
        let unknown = "unknown: the capture does not show when late packets arrived";
        return vec![("extent", unknown.to_owned())];
    }
    let extents = quantiles(&order.extents, count);
    vec![
        ("extent", format!("{extents} packets (RFC 4737{bounds})")),
        ("late", quantiles(&order.late_ns, time_u64)),
        ("displacement", displacement(order)),
    ]
}

fn vantage(flow: &FlowReport) -> String {
    let choice = &flow.vantage;
    let trips: Vec<String> = [
        (choice.to_receiver_ns, "to the receiver and back"),
        (choice.to_sender_ns, "to the sender and back"),
    ]
    .iter()
    .filter_map(|(ns, what)| ns.map(|ns| format!("{} {what}", time(ns))))
    .collect();
    let trips = match trips.len() {
        0 => String::new(),
        _ => format!("; {}", trips.join(", ")),
    };
    format!(
        "{} (inferred from: {}){trips}",
        choice.vantage.name(),
        choice.basis.name()
    )
}

fn connection(flow: &FlowReport) -> String {
    let mut text = vec![
        plural(flow.originals.packets, "packet"),
        format!("in {}", time(flow.last_ns.saturating_sub(flow.first_ns))),
        format!("MSS {}", flow.endpoints.mss),
    ];
    if let Some(rtt) = flow.min_rtt_ns {
        text.push(format!("RTT from {}", time(rtt)));
    }
    // What the two hosts agreed on shows in the packets of both, whole.
    let untold = flow.blind.has(NotSeen::OneWay) || flow.blind.has(NotSeen::SackOptions);
    let options = [
        (flow.endpoints.sack, "SACK"),
        (flow.endpoints.timestamps, "timestamps"),
    ];
    text.extend(options.iter().filter_map(|(used, name)| match used {
        true => Some((*name).to_owned()),
        false if untold => None,
        false => Some(format!("no {name}")),
    }));
    if !flow.endpoints.syn_seen {
        text.push("began before the capture".to_owned());
    }
    text.extend(unusual(&flow.endpoints.habits));
    if flow.rough {
        text.push("counts are approximate".to_owned());
    }
    if flow.originals.undecided > 0 {
        text.push(format!(
            "{} undecided at the end",
            count(flow.originals.undecided)
        ));
    }
    text.join(", ")
}

/// What the hosts do otherwise than most.
fn unusual(habits: &Habits) -> impl Iterator<Item = String> {
    /// Clocks of most stacks tick every millisecond.
    const MIN_COARSE_TICK_NS: i64 = 4_000_000;
    let tick = habits.sender_tick_ns.filter(|&ns| ns >= MIN_COARSE_TICK_NS);
    let said = [
        match habits.sender_identification {
            Identification::Host => {
                Some("the sender has one counter of IP identifications for all that it sends")
            }
            Identification::Kept => {
                Some("the sender keeps the IP identification of what it repeats")
            }
            _ => None,
        },
        (habits.after_timeout == AfterTimeout::Everything).then_some(
            "after a time-out the sender also repeats what had been acknowledged selectively",
        ),
        (habits.duplicates == Duplicates::Unreported)
            .then_some("the receiver does not report duplicates"),
        (habits.too_old == TooOld::Taken)
            .then_some("the receiver takes data with an old timestamp"),
        (habits.echo == Echo::Newest).then_some("the receiver echoes the newest timestamp"),
        (habits.reneges).then_some("the receiver has discarded data that it had reported"),
    ];
    let said = said.into_iter().flatten().map(str::to_owned);
    said.chain(tick.map(|ns| format!("the sender's timestamps tick every {} at least", time(ns))))
}

fn quantiles(d: &Distribution, show: fn(u64) -> String) -> String {
    let at = |q: f64| d.quantile(q).map_or_else(|| "-".to_owned(), show);
    let max = show(d.max().unwrap_or(0));
    format!(
        "median {}, 90 % {}, 99 % {}, max {max}",
        at(0.5),
        at(0.9),
        at(0.99)
    )
}

fn displacement(order: &Reordering) -> String {
    let (early, late) = order.displacements.beyond();
    let beyond = match early + late {
        0 => String::new(),
        n => format!(
            "; {} more than {} packets away are left out",
            plural(n, "packet"),
            count(u64::from(order.displacements.threshold()))
        ),
    };
    format!(
        "mean {:.3} packets, entropy {:.3} (RFC 5236){beyond}",
        order.displacements.mean_displacement(),
        order.displacements.entropy()
    )
}

fn bursts(flow: &FlowReport) -> String {
    let longest = plural(flow.bursts.lengths.max().unwrap_or(0), "packet");
    let average = flow
        .bursts
        .lengths
        .mean()
        .map_or_else(|| "-".to_owned(), mean);
    let runs = plural(flow.bursts.count, "run");
    format!("{runs} of late packets, mean {average}, longest {longest}")
}

fn recoveries(flow: &FlowReport) -> String {
    let r = &flow.recoveries;
    let mut text = format!(
        "{}: {}",
        plural(r.total, "recovery phase"),
        words::causes(&r.by_cause)
    );
    match flow.timeouts() {
        0 => {}
        n => text.push_str(&format!("; {} after a time-out", count(n))),
    }
    text
}

fn upstream(flow: &FlowReport) -> Option<String> {
    let up = flow.upstream.as_ref()?;
    let lost = match flow.originals.lost_upstream {
        0 => String::new(),
        n => format!("; {} lost there", plural(n, "packet")),
    };
    if up.reordered == 0 {
        let said = format!("no packet was reordered before the capture point{lost}");
        return (flow.vantage.vantage == Vantage::Middle && up.received > 0).then_some(said);
    }
    Some(format!(
        "{} of {} reordered before the capture point, extent up to {}, late by up to {}{lost}",
        count(up.reordered),
        count(up.received),
        count(up.extents.max().unwrap_or(0)),
        time_u64(up.late_ns.max().unwrap_or(0))
    ))
}

fn ack_path(flow: &FlowReport) -> Option<String> {
    let a = &flow.ack_path;
    (a.reordered > 0 || a.missing > 0).then(|| {
        format!(
            "{} of {} overtaken, {} missing",
            count(a.reordered),
            plural(a.acks, "ACK"),
            count(a.missing)
        )
    })
}

fn artefacts(flow: &FlowReport) -> Option<String> {
    let a = &flow.artefacts;
    let facts: Vec<String> = [
        (a.duplicated_frames, "frames captured twice"),
        (
            flow.path.network_duplicates,
            "packets delivered twice by the network",
        ),
        (a.swapped_frames, "frames swapped by the capturing host"),
        (a.missing_segments, "acknowledged segments not captured"),
        (a.time_reversals, "timestamps ran backwards"),
        (a.time_leaps, "timestamps leapt forward"),
        (
            a.foreign_packets,
            "packets that somebody else sent in a host's name",
        ),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{} {what}", count(*n)))
    .collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

/// No sorter, the best setting of SRPIC, the resequencer, and the sorters that the user named, side by side; JSON has
/// all settings of SRPIC.
pub(super) fn compared(out: &mut dyn Write, rows: &[WhatIf], style: &Style) -> io::Result<()> {
    let (named, blocks): (Vec<&WhatIf>, Vec<&WhatIf>) =
        rows.iter().partition(|w| w.sorter.is_some());
    // The first row of a sorter by name is that without one.
    let without = named.len().min(1);
    let best = blocks.into_iter().min_by_key(|w| rank(w));
    let rows = named.iter().take(without).copied().chain(best);
    let rows: Vec<&WhatIf> = rows.chain(named.iter().skip(without).copied()).collect();
    writeln!(out)?;
    text::write(out, WHAT_IF, rows, &style.layout().indent(2))
}

fn events(out: &mut dyn Write, events: &[Event], style: &Style) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let shown = events.iter().take(EVENTS);
    text::write(out, EVENT, shown, &style.layout().indent(2))?;
    match events.len().saturating_sub(EVENTS) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "  ({} not shown; --json or --csv has them all)",
            plural(n, "event")
        ),
    }
}
