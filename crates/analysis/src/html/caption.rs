//! What each chart shows, in a sentence with its figures: for readers who do not see it, and for those who do.

use inorder_detect::Reordering;
use inorder_detect::{Distribution, FlowReport};
use inorder_report::number::{count, percent, plural, rate, time, time_u64};

use super::data::{Burst, Chart, Charts, MIN_PACKETS, marks};
use crate::limits::{labels_of, worst};

/// Title of a chart.
pub(super) fn title(chart: Chart) -> &'static str {
    match chart {
        Chart::Limits => "What limited it",
        Chart::Goodput => "Goodput over time",
        Chart::When => "What happened when",
        Chart::Sequence => "Time and sequence",
        Chart::Late => "How late late packets were (RFC 4737)",
        Chart::Extents => "How many packets overtook them (extent, RFC 4737)",
        Chart::Density => "Displacement of all packets (reorder density, RFC 5236)",
        Chart::ByRate => "Late packets by sending rate",
    }
}

/// The figures of a chart that only flows have.
pub(super) fn of_flow(
    chart: Chart,
    flow: &FlowReport,
    charts: &Charts,
    burst: Option<&Burst>,
) -> String {
    match chart {
        Chart::Limits => limits(flow),
        Chart::When => charts.when.caption(),
        Chart::Sequence => sequence(flow, charts, burst),
        Chart::Goodput => goodput(flow),
        Chart::ByRate => by_rate(flow),
        _ => of_order(chart, &flow.reordering),
    }
}

/// The figures of a chart of the order of arrival.
pub(super) fn of_order(chart: Chart, order: &Reordering) -> String {
    match chart {
        Chart::Late => format!(
            "{}: {}.",
            late_packets(order),
            quantiles(&order.late_ns, "late by", time_u64)
        ),
        Chart::Extents => format!(
            "{}: {}.",
            late_packets(order),
            quantiles(&order.extents, "overtaken by", |n| plural(n, "packet"))
        ),
        _ => format!(
            "A packet arrived {:.3} places from where it was sent, on average; {} % arrived in their place.",
            order.displacements.mean_displacement(),
            percent(in_place(order)),
        ),
    }
}

fn late_packets(order: &Reordering) -> String {
    format!(
        "{} of {} that the receiver took",
        plural(order.reordered, "late packet"),
        plural(order.received, "packet")
    )
}

fn quantiles(d: &Distribution, what: &str, show: impl Fn(u64) -> String) -> String {
    let at = |q: f64| d.quantile(q).map_or_else(|| "-".to_owned(), &show);
    format!(
        "half of them {what} at most {}, 9 of 10 at most {}, the last {}",
        at(0.5),
        at(0.9),
        show(d.max().unwrap_or(0))
    )
}

fn in_place(order: &Reordering) -> f64 {
    let mut density = order.displacements.density();
    density
        .find(|(d, _)| *d == 0)
        .map_or(0.0, |(_, share)| share)
}

fn sequence(flow: &FlowReport, charts: &Charts, burst: Option<&Burst>) -> String {
    let said = match burst {
        Some(burst) => burst.caption(),
        None => format!(
            "{} in {}.",
            plural(flow.originals.packets, "packet"),
            time(flow.last_ns.saturating_sub(flow.first_ns))
        ),
    };
    let all = marks(flow);
    match all - charts.events.len() {
        0 => said,
        _ => format!(
            "{said} {} of {} marks are drawn one by one: in equal intervals the latest of each kind. \"{}\" counts all.",
            count(charts.events.len() as u64),
            count(all as u64),
            title(Chart::When)
        ),
    }
}

fn limits(flow: &FlowReport) -> String {
    /// Limits that a sentence names; the legend has all.
    const NAMED: usize = 3;
    let limits = &flow.limits;
    let longest = limits.shares.iter().take(NAMED).map(|share| {
        format!(
            "{} {} %",
            labels_of(flow, share.limits),
            percent(limits.share_of(share.limits))
        )
    });
    let longest: Vec<String> = longest.collect();
    let worst = worst(limits).map_or_else(String::new, |stretch| {
        format!(
            " The longest stretch that neither the application nor the path explains: {}, {} from {} on.",
            labels_of(flow, stretch.limits),
            time(stretch.end_ns.saturating_sub(stretch.start_ns)),
            time(stretch.start_ns.saturating_sub(flow.first_ns))
        )
    });
    format!(
        "Of {}: {}.{worst}",
        time(limits.life_ns()),
        longest.join(", ")
    )
}

fn goodput(flow: &FlowReport) -> String {
    let bins = &flow.cost.goodput;
    let whole = flow.cost.goodput_bps.or_else(|| flow.rate_bps());
    let width = bins
        .windows(2)
        .next()
        .map_or(0, |pair| pair[1].start_ns - pair[0].start_ns);
    // The last interval is only begun.
    let full = &bins[..bins.len().saturating_sub(1)];
    let rates = || full.iter().map(|bin| bin.goodput_bps);
    format!(
        "{} on the whole; in intervals of {} between {} and {}.",
        rate(whole.unwrap_or(0)),
        time(width),
        rate(rates().min().unwrap_or(0)),
        rate(rates().max().unwrap_or(0))
    )
}

fn by_rate(flow: &FlowReport) -> String {
    let share = |r: &&inorder_detect::RateClass| r.reordered as f64 / r.packets.max(1) as f64;
    let classes = || {
        flow.by_rate
            .iter()
            .filter(|r| r.packets >= MIN_PACKETS && r.rate_bps > 0)
    };
    let by_share = |a: &&inorder_detect::RateClass, b: &&inorder_detect::RateClass| {
        share(a).total_cmp(&share(b))
    };
    let say = |class: Option<&inorder_detect::RateClass>| {
        class.map_or_else(String::new, |r| {
            format!("{} % at {}", percent(share(&r)), rate(r.rate_bps))
        })
    };
    format!(
        "Between {} and {} of the packets were late.",
        say(classes().min_by(by_share)),
        say(classes().max_by(by_share))
    )
}
