//! When everything happened: all events, retransmissions and recoveries, counted in equal intervals of time, so that
//! none is left out however many there are.

use inorder_detect::{FlowReport, RecoveryVerdict};
use inorder_report::number::{plural, time};
use serde::Serialize;

use super::events;

/// The rows of the chart.
pub(crate) const ROWS: [&str; 8] = [
    "late",
    "unclear",
    "lost",
    "refused",
    "sent again",
    "spurious",
    "recoveries",
    "unnecessary",
];

/// Counts by kind and interval.
#[derive(Serialize, Default)]
pub(crate) struct When {
    /// Begin of the first interval, seconds.
    from: f64,
    /// Length of an interval, seconds.
    width: f64,
    /// For each of [`ROWS`], the intervals with any, in their order: the number of the interval, and how many.
    counts: Vec<Vec<(usize, u64)>>,
}

impl When {
    /// Counts everything in at most `bins` intervals.
    pub(crate) fn of(flow: &FlowReport, bins: usize) -> When {
        let all = times(flow);
        let (Some(first), Some(last)) = (
            all.iter().map(|one| one.0).min(),
            all.iter().map(|one| one.0).max(),
        ) else {
            return When::default();
        };
        let (begin, end) = (first.min(flow.first_ns), last.max(flow.last_ns));
        let width = end.saturating_sub(begin) / bins.max(1) as i64 + 1;
        let mut counts = vec![Vec::<(usize, u64)>::new(); ROWS.len()];
        let mut sorted = all;
        sorted.sort_unstable();
        for (at, row) in sorted {
            let bin = usize::try_from((at - begin) / width).unwrap_or(0);
            let Some(row) = counts.get_mut(row) else {
                continue;
            };
            match row.last_mut().filter(|last| last.0 == bin) {
                Some(last) => last.1 += 1,
                None => row.push((bin, 1)),
            }
        }
        When {
            from: super::seconds(flow, begin),
            width: width as f64 / 1e9,
            counts,
        }
    }

    /// Everything that is counted.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().flatten().map(|one| one.1).sum()
    }

    /// How much of each row there is, as the chart shows it.
    pub(crate) fn caption(&self) -> String {
        let [late, unclear, lost, refused, needed, spurious, right, wrong] = self.sums();
        let of = |part: u64, adjective: &str| match part {
            0 => String::new(),
            n => format!(" ({} {adjective})", inorder_report::number::count(n)),
        };
        let all = [
            (late, plural(late, "late packet")),
            (lost, plural(lost, "lost packet")),
            (refused, plural(refused, "refused packet")),
            (unclear, plural(unclear, "unclear event")),
            (
                needed + spurious,
                plural(needed + spurious, "retransmission") + &of(spurious, "spurious"),
            ),
            (
                right + wrong,
                match right + wrong {
                    1 => "1 recovery".to_owned(),
                    n => format!("{} recoveries", inorder_report::number::count(n)),
                } + &of(wrong, "unnecessary"),
            ),
        ];
        let said: Vec<String> = all
            .into_iter()
            .filter(|one| one.0 > 0)
            .map(|one| one.1)
            .collect();
        format!(
            "{}: all are counted, in intervals of {}.",
            said.join(", "),
            time((self.width * 1e9) as i64)
        )
    }

    fn sums(&self) -> [u64; ROWS.len()] {
        let mut sums = [0; ROWS.len()];
        for (sum, row) in sums.iter_mut().zip(&self.counts) {
            *sum = row.iter().map(|one| one.1).sum();
        }
        sums
    }
}

/// The time of everything, nanoseconds since the epoch, with its place in [`ROWS`].
fn times(flow: &FlowReport) -> Vec<(i64, usize)> {
    let place = |name: &str| ROWS.iter().position(|row| *row == name).unwrap_or(0);
    let [late, unclear, lost, refused] = ["late", "unclear", "lost", "refused"].map(place);
    let events = flow.records.events.iter().map(|event| {
        let row = match events::what(event) {
            "late" => late,
            "unclear" => unclear,
            "lost" => lost,
            _ => refused,
        };
        (event.at_ns, row)
    });
    let [needed, spurious] = ["sent again", "spurious"].map(place);
    let again = flow.records.retransmissions.iter();
    let again = again.map(|r| {
        let row = [needed, spurious][usize::from(events::is_spurious(r))];
        (r.at_ns, row)
    });
    let [right, wrong] = ["recoveries", "unnecessary"].map(place);
    let recoveries = flow.recoveries.list.iter().map(|r| {
        let row = [right, wrong][usize::from(r.verdict == RecoveryVerdict::Spurious)];
        (r.start_ns, row)
    });
    events.chain(again).chain(recoveries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_detect::{Confidence, Event, Evidence, FlowId, Kind, Recovery, Vantage};
    use inorder_detect::{VantageBasis, VantageChoice};
    use std::net::SocketAddr;

    #[test]
    fn nothing_is_left_out_however_much_there_is() {
        let end = SocketAddr::from(([192, 0, 2, 1], 80));
        let id = FlowId {
            src: end,
            dst: end,
            overlay: 0,
            reuse: 0,
        };
        let vantage = VantageChoice {
            vantage: Vantage::Sender,
            basis: VantageBasis::Handshake,
            to_receiver_ns: None,
            to_sender_ns: None,
        };
        let mut flow = FlowReport::new(id, vantage);
        (flow.first_ns, flow.last_ns) = (1_000, 5_000_000);
        for n in 0..10_000 {
            let kind = [Kind::Reordered, Kind::Lost][usize::from(n % 10 == 0)];
            let mut event = Event::new(kind, Confidence::Certain, Evidence::Dsack);
            event.at_ns = 1_000 + n * 400;
            flow.records.events.push(event);
        }
        flow.recoveries.list = vec![Recovery::new(4_000, 0, RecoveryVerdict::Spurious); 3];
        let when = When::of(&flow, 50);
        assert_eq!(when.total(), 10_003);
        assert!(when.counts.iter().all(|row| row.len() <= 50));
        let said = when.caption();
        assert!(
            said.starts_with("9,000 late packets, 1,000 lost packets, 3 recoveries (3 unnecessary): all are counted"),
            "{said}"
        );
        assert_eq!(When::of(&FlowReport::new(id, vantage), 50).total(), 0);
    }
}
