//! The result in a sentence for each direction.

use inorder_report::number::{count, plural, share, time, time_u64};

use crate::diff::result::{Difference, Matched};

impl Difference {
    /// What became of the packets of each direction; `None` if the captures have no packet in common.
    pub fn headline(&self) -> Option<String> {
        let ways = self.directions.iter();
        let ways = ways.filter(|way| way.order.received > 0);
        let said: Vec<String> = ways.map(direction).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// How many were lost, late, copied, and how much their delays differ.
fn direction(way: &Matched) -> String {
    let mut facts = vec![lost(way), late(way)];
    if way.duplicated > 0 {
        facts.push(format!(
            "{} arrived",
            match way.duplicated {
                1 => "1 further copy".to_owned(),
                n => format!("{} further copies", count(n)),
            }
        ));
    }
    if way.appeared > 0 {
        facts.push(format!(
            "{} {} seen at the other end only",
            plural(way.appeared, "packet"),
            was(way.appeared)
        ));
    }
    if let (Some(half), Some(most)) = (way.longer_ns.quantile(0.5), way.longer_ns.max()) {
        facts.push(format!(
            "half took at most {} longer than the fastest, the slowest {}",
            time_u64(half),
            time_u64(most)
        ));
    }
    let sent = plural(way.sent, "packet");
    format!("Of {sent} from {}, {}.", way.name, facts.join("; "))
}

fn lost(way: &Matched) -> String {
    match way.lost {
        0 => "none was lost".to_owned(),
        n => format!("{} ({}) {} lost", count(n), share(n, way.sent), was(n)),
    }
}

fn late(way: &Matched) -> String {
    let order = &way.order;
    let by = order.late_ns.max().and_then(|ns| i64::try_from(ns).ok());
    match order.reordered {
        0 => "none was late".to_owned(),
        n => format!(
            "{} of the {} that arrived ({}) {} late, by up to {} and overtaken by up to {}",
            count(n),
            count(order.received),
            share(n, order.received),
            was(n),
            time(by.unwrap_or(0)),
            plural(order.extents.max().unwrap_or(0), "packet")
        ),
    }
}

fn was(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use inorder_metrics::{Config, Distribution, Metrics};

    use super::*;
    use crate::diff::result::Basis;

    /// A direction in which these numbers arrived, one each millisecond.
    fn way(name: &str, numbers: &[u64], sent: u64) -> Matched {
        let mut metrics = Metrics::new(Config::default());
        let mut longer_ns = Distribution::new();
        for (ms, &number) in (0..).zip(numbers) {
            metrics.update(number, ms * 1_000_000, 1_000);
            longer_ns.update(20_000_000);
        }
        Matched {
            name: name.to_owned(),
            in_b: None,
            a_first: true,
            basis: Basis::TimeToLive,
            sent,
            order: metrics.finish().order,
            lost: sent - numbers.len() as u64,
            duplicated: 0,
            appeared: 0,
            outside: 0,
            least_ns: 0,
            longer_ns,
        }
    }

    #[test]
    fn each_direction_has_its_sentence() {
        let mut there = way("A to B", &[1, 3, 4, 2, 5], 6);
        there.duplicated = 2;
        there.appeared = 1;
        let found = Difference {
            directions: vec![there, way("B to A", &[1, 2], 2)],
            ..Difference::default()
        };
        assert_eq!(
            found.headline().unwrap(),
            "Of 6 packets from A to B, 1 (16.7 %) was lost; 1 of the 5 that arrived (20.0 %) was late, by up to 2.00 ms and \
             overtaken by up to 2 packets; 2 further copies arrived; 1 packet was seen at the other end only; half took at most \
             20.0 ms longer than the fastest, the slowest 20.0 ms. Of 2 packets from B to A, none was lost; none was late; half \
             took at most 20.0 ms longer than the fastest, the slowest 20.0 ms."
        );
    }

    #[test]
    fn without_a_packet_in_common_there_is_nothing_to_say() {
        assert_eq!(Difference::default().headline(), None);
        let found = Difference {
            directions: vec![way("A to B", &[], 0)],
            ..Difference::default()
        };
        assert_eq!(found.headline(), None);
    }
}
