//! The last sentence: what limits the conclusions.

use crate::flows::stream_name;
use inorder_detect::{Attempts, NotSeen, Outcome, StreamDoubt, StreamReport, Totals};
use inorder_report::number::{count, plural};

use super::{stream, was};
use crate::gravity::Subject;
use crate::model::Analysis;

/// The sentence, if anything limits the conclusions that rest on these sums of `analysis`.
/// `worst` is what the first sentence is about.
pub(super) fn of(
    analysis: &Analysis,
    totals: &Totals,
    worst: Option<&Subject<'_>>,
) -> Option<String> {
    let doubts: Vec<String> = timeless(analysis, totals)
        .into_iter()
        .chain(not_shown(totals))
        .chain(artefacts(totals))
        .chain(of_streams(analysis, totals, worst))
        .chain(unfilled(totals))
        .chain(attempts(&analysis.attempts))
        .chain(other_answers(totals))
        .chain(undecided(totals))
        .collect();
    (!doubts.is_empty()).then(|| format!("Doubts: {}.", doubts.join("; ")))
}

/// Some tools write captures without times (simple packet blocks of pcapng have none), or with one for all.
fn timeless(analysis: &Analysis, totals: &Totals) -> Option<String> {
    /// Fewer frames may well be captured at one time.
    const MIN_FRAMES: u64 = 3;
    let judged = totals.flows > 0 || totals.streams.streams > 0;
    let timeless = analysis.frames >= MIN_FRAMES && analysis.first_ns == analysis.last_ns;
    (judged && timeless).then(|| {
        "all frames have the same time, so nothing that depends on times is known".to_owned()
    })
}

/// Attempts to open connections of which it is not known how they ended.
fn attempts(attempts: &Attempts) -> Vec<String> {
    let (open, forgotten) = (attempts.of(Outcome::Open), attempts.forgotten);
    let all = |n: u64| plural(n, "connection attempt");
    let ends = format!(
        "the capture ends too soon after {} to say what became of {}",
        all(open),
        if open == 1 { "it" } else { "them" }
    );
    let lost = format!(
        "{} {} not followed to their end, since too many were open at once",
        all(forgotten),
        was(forgotten)
    );
    let traced = attempts.of(Outcome::Traced);
    let routes = format!(
        "{} with hop limits from 1 on traced a route and {} no connection attempts",
        plural(traced, "SYN"),
        if traced == 1 { "is" } else { "are" }
    );
    let told = [(open, ends), (forgotten, lost), (traced, routes)].into_iter();
    told.filter(|(n, _)| *n > 0).map(|(_, text)| text).collect()
}

/// SYNs that were answered more than once.
fn other_answers(totals: &Totals) -> Option<String> {
    let n = totals.openings.other_answers;
    (n > 0).then(|| {
        format!(
            "{} {} not the one that was acknowledged (another server, a proxy, or an old duplicate) and {} left out",
            plural(n, "SYN-ACK"),
            was(n),
            was(n)
        )
    })
}

/// What was still missing when the capture of a flow ended.
fn unfilled(totals: &Totals) -> Option<String> {
    let n = totals.originals.unfilled;
    (n > 0).then(|| {
        format!(
            "when the capture of {} ended, {} {} still missing although later ones had arrived: lost, late or not captured",
            if totals.flows == 1 { "the flow" } else { "their flows" },
            plural(n, "packet"),
            was(n)
        )
    })
}

/// What the capture does not contain, and what makes counts approximate.
fn not_shown(totals: &Totals) -> Vec<String> {
    let (all, flows) = (totals.flows, totals.blind);
    let lacking = NotSeen::ALL.map(|what| (flows.of(what), what.sentence()));
    let said = |(n, what): (u64, &str)| match n {
        n if n == all => what.to_owned(),
        n => format!("{what} in {} of {}", count(n), plural(all, "TCP flow")),
    };
    let rough = match flows.rough {
        0 => None,
        n if n == all => {
            Some("counts are approximate, because the connection has no SACK".to_owned())
        }
        n => Some(format!(
            "counts are approximate: {} of {} {} no SACK",
            count(n),
            plural(all, "TCP flow"),
            if n == 1 { "has" } else { "have" }
        )),
    };
    let lacking = lacking.into_iter().filter(|(n, _)| *n > 0).map(said);
    lacking.chain(rough).collect()
}

/// What the capture itself did.
fn artefacts(totals: &Totals) -> Vec<String> {
    let sums = &totals.artefacts;
    let frames = |n: u64, what: &str| format!("{} {} {what}", plural(n, "frame"), was(n));
    let twice = sums.duplicated_frames + totals.streams.captured_twice;
    let doubled = totals.network_duplicates;
    let swapped = sums.swapped_frames;
    let missing = sums.missing_segments;
    let (reversals, leaps) = (sums.time_reversals, sums.time_leaps);
    let foreign = sums.foreign_packets;
    [
        (twice, frames(twice, "captured twice and counted once")),
        (
            doubled,
            format!(
                "{} {} delivered twice by the network",
                plural(doubled, "packet"),
                was(doubled)
            ),
        ),
        (swapped, frames(swapped, "swapped by the capturing host")),
        (
            missing,
            format!(
                "the capture lacks {}",
                plural(missing, "acknowledged segment")
            ),
        ),
        (
            reversals,
            format!(
                "the capture's clock ran backwards {}",
                super::times(reversals)
            ),
        ),
        (
            leaps,
            format!(
                "the capture's clock leapt forward {}, over time that counts nowhere",
                super::times(leaps)
            ),
        ),
        (
            foreign,
            format!(
                "{} in the name of a host {} not its own, as the time to live shows, and {} nowhere",
                plural(foreign, "packet"),
                was(foreign),
                if foreign == 1 { "counts" } else { "count" }
            ),
        ),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(_, text)| text)
    .collect()
}

/// Numbers of streams that are no evidence.
fn of_streams(analysis: &Analysis, totals: &Totals, worst: Option<&Subject<'_>>) -> Vec<String> {
    let t = &totals.streams;
    let streams = |n: u64| plural(n, "numbered stream");
    let absent = |doubt| {
        let all = analysis
            .streams
            .iter()
            .filter(|s| s.skipped.doubt == Some(doubt));
        count(all.map(|s| s.skipped.absent).sum())
    };
    let is_said = matches!(worst, Some(Subject::Stream(s)) if s.skipped.doubt == Some(StreamDoubt::LostOrElsewhere));
    let shared = (t.shared > 0).then(|| {
        format!(
            "of {} {} numbers are not in the capture and say nothing, since other traffic shares the tunnel: the TCP in it does not lack them",
            streams(t.shared),
            absent(StreamDoubt::OtherTraffic)
        )
    });
    let doubtful = (t.doubtful > u64::from(is_said)).then(|| {
        format!(
            "of {} {} numbers are not in the capture: lost, carried on another way, or not captured",
            streams(t.doubtful),
            absent(StreamDoubt::LostOrElsewhere)
        )
    });
    let acknowledged = |s: &&StreamReport| s.skipped.doubt == Some(StreamDoubt::NotCaptured);
    let not_captured = match analysis.streams.iter().filter(acknowledged).count() {
        0 => None,
        n => Some(format!(
            "the capture lacks packets of {} that the receiver acknowledged ({})",
            streams(n as u64),
            absent(StreamDoubt::NotCaptured)
        )),
    };
    let mut uncounted = analysis
        .streams
        .iter()
        .filter_map(|s| Some((s, stream::numbers(s)?)));
    let uncounted = match (t.uncounted, uncounted.next()) {
        (1, Some((stream, what))) => Some(format!(
            "in {} {what}, which tells nothing of order, loss and duplicates",
            stream_name(stream)
        )),
        (0, _) | (_, None) => None,
        (n, _) => Some(format!(
            "the numbers of {} do not count packets, and tell nothing of order, loss and duplicates",
            streams(n)
        )),
    };
    [shared, doubtful, not_captured, uncounted]
        .into_iter()
        .flatten()
        .collect()
}

/// What could not be decided.
fn undecided(t: &Totals) -> Option<String> {
    let what = [
        (t.order.ambiguous + t.streams.ambiguous, "event"),
        (t.retransmissions.ambiguous, "retransmission"),
    ];
    let what: Vec<String> = what
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| plural(*n, what))
        .collect();
    (!what.is_empty()).then(|| format!("{} could not be decided", what.join(" and ")))
}
