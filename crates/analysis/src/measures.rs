//! The headline measures of an analysis: one list, from which thresholds and comparisons are made.
//!
//! A measure refers to columns of flows and streams by name; those define meaning and unit.

use crate::flows::{FLOW, STREAM};
use inorder_base::stats::Moments;
use inorder_detect::{FlowReport, StreamReport};
use inorder_report::{AnyColumn, Boxed, Column, Kind, in_files};

use crate::model::Analysis;

/// A number by which captures are judged and compared.
#[derive(Debug)]
pub struct Measure {
    /// Its name in `--threshold` and in comparisons.
    pub name: &'static str,
    /// Its meaning, as a sentence.
    pub about: &'static str,
    /// How the values of flows become one value.
    pub how: How,
    /// Whether more of it is worse.
    pub more_is_worse: bool,
    /// The columns of a flow from which it is computed.
    flow: Parts,
    /// The columns of a stream of a numbered service; `None` if streams do not have the measure.
    stream: Option<&'static Parts>,
}

/// How the values of flows become one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// A share: the sum of counts over the sum of packets.
    Share,
    /// The mean over late packets, in the unit of its column.
    PerLatePacket,
    /// The mean over flows, in the unit of its column.
    PerFlow,
}

/// Names of columns: a numerator, and what is summed for the denominator. Without a denominator a flow counts as 1.
#[derive(Debug)]
struct Parts {
    of: &'static str,
    per: &'static [&'static str],
}

/// The part of one flow or stream in a measure; the value of several is the sum of `of` over the sum of `per`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// The numerator.
    pub of: f64,
    /// The denominator.
    pub per: f64,
}

/// Declares the measures: of each its name, how values become one, whether more of it is `worse` or `better`, its meaning, the columns of a
/// flow from which it is computed, and those of a stream, if it has them.
macro_rules! measures {
    (@worse) => { true };
    (@better) => { false };
    ($($name:literal, $how:ident, $more:ident: $about:literal
        => $of:literal per $per:expr $(, stream $stream_of:literal per $stream_per:expr)?;)+) => {
        /// All measures, the most important first. To add one, add it here.
        pub static MEASURES: &[Measure] = &[$(Measure {
            name: $name,
            about: $about,
            how: How::$how,
            more_is_worse: measures!(@$more),
            flow: Parts { of: $of, per: &$per },
            stream: {
                let parts: &[Parts] = &[$(Parts { of: $stream_of, per: &$stream_per })?];
                parts.first()
            },
        }),+];
    };
}

measures! {
    "late", Share, worse: "Late packets, of those that arrived."
        => "reordered" per ["received"], stream "reordered" per ["received"];
    "lost", Share, worse: "Lost packets, of those that were sent."
        => "losses" per ["data_packets"], stream "missing" per ["received", "missing"];
    "refused", Share, worse: "Packets that arrived and were discarded, of those that were sent."
        => "refused" per ["data_packets"];
    "retransmitted", Share, worse: "Retransmissions, of the packets that were sent first."
        => "retransmissions" per ["data_packets"];
    "spurious", Share, worse: "Spurious retransmissions, of the packets that were sent first."
        => "spurious" per ["data_packets"];
    "unnecessary", Share, worse: "Recoveries, which reduce the congestion window, without any loss, per packet that was sent first."
        => "recoveries_spurious" per ["data_packets"];
    "ambiguous", Share, worse: "Events that are undecided, of the packets that were sent first."
        => "ambiguous" per ["data_packets"];
    "extent", PerLatePacket, worse: "Mean extent of the late packets."
        => "mean_extent" per ["reordered"], stream "mean_extent" per ["reordered"];
    "late_ms", PerLatePacket, worse: "Mean late time of the late packets."
        => "mean_late_ms" per ["reordered"], stream "mean_late_ms" per ["reordered"];
    "rate_bps", PerFlow, better: "Payload sent first over the duration of a flow, mean over the flows."
        => "rate_bps" per [];
    "min_rtt_ms", PerFlow, worse: "Smallest round-trip time of a flow, mean over the flows."
        => "min_rtt_ms" per [];
}

impl Measure {
    /// The measure with this name.
    pub fn named(name: &str) -> Option<&'static Measure> {
        MEASURES.iter().find(|measure| measure.name == name)
    }

    /// The unit of its value; empty for shares.
    pub fn unit(&self) -> String {
        match self.how {
            How::Share => String::new(),
            _ => find(FLOW, self.flow.of)
                .map_or(String::new(), |column| column.field().unit.to_owned()),
        }
    }

    /// The kind of its value, which says how it is printed.
    pub fn kind(&self) -> Kind {
        match self.how {
            How::Share => Kind::Share,
            _ => find(FLOW, self.flow.of).map_or(Kind::Share, |column| column.field().kind),
        }
    }

    /// The part of a flow; `None` if it has no value, such as the late time of a flow without late packets.
    pub fn of_flow(&self, flow: &FlowReport) -> Option<Share> {
        self.share(&self.flow, |name| number(FLOW, name, flow))
    }

    /// The part of a stream.
    pub fn of_stream(&self, stream: &StreamReport) -> Option<Share> {
        let parts = self.stream?;
        self.share(parts, |name| number(STREAM, name, stream))
    }

    /// The parts of every flow and stream of an analysis that is reported; [`Measure::of_summed`] has the others.
    pub(crate) fn of_analysis<'a>(
        &'a self,
        analysis: &'a Analysis,
    ) -> impl Iterator<Item = Share> + 'a {
        let flows = analysis.flows.iter().filter_map(|flow| self.of_flow(flow));
        let streams = analysis.streams.iter();
        flows.chain(streams.filter_map(|stream| self.of_stream(stream)))
    }

    /// The sums over the flows of an analysis that are not reported one by one.
    pub fn of_summed(&self, analysis: &Analysis) -> Moments {
        let all = analysis.summed.measures.all().iter();
        all.filter(|sums| sums.measure == self.name)
            .map(|sums| Moments {
                units: sums.flows,
                of: sums.of(),
                per: sums.per(),
                of_of: sums.of_of(),
                of_per: sums.of_per(),
                per_per: sums.per_per(),
            })
            .next()
            .unwrap_or_default()
    }

    /// The sums over such flows, from a member of `files` in the JSON of `analyze`.
    pub(crate) fn of_summed_json(&self, file: &serde_json::Value) -> Moments {
        let all = file["summed"]["measures"].as_array().into_iter().flatten();
        let number = |sums: &serde_json::Value, name: &str| sums[name].as_f64().unwrap_or(0.0);
        all.filter(|sums| sums["measure"] == self.name)
            .map(|sums| Moments {
                units: sums["flows"].as_u64().unwrap_or(0),
                of: number(sums, "of"),
                per: number(sums, "per"),
                of_of: number(sums, "of_of"),
                of_per: number(sums, "of_per"),
                per_per: number(sums, "per_per"),
            })
            .next()
            .unwrap_or_default()
    }

    /// The part of a member of `flows`, or with `is_stream` of `streams`, in the JSON of `analyze`.
    pub fn of_json(&self, value: &serde_json::Value, is_stream: bool) -> Option<Share> {
        match is_stream {
            false => self.share(&self.flow, |name| member(FLOW, name, value)),
            true => self.share(self.stream?, |name| member(STREAM, name, value)),
        }
    }

    fn share(&self, parts: &Parts, number: impl Fn(&str) -> Option<f64>) -> Option<Share> {
        let of = number(parts.of)?;
        let per = parts.per.iter().map(|name| number(name));
        let per: f64 = per.sum::<Option<f64>>()?;
        Some(match self.how {
            How::Share => Share { of, per },
            // The mean of a flow times the number of its late packets is their sum.
            How::PerLatePacket => Share { of: of * per, per },
            How::PerFlow => Share { of, per: 1.0 },
        })
        .filter(|share| share.per > 0.0)
    }
}

/// The column with this name in CSV.
fn find<R>(columns: &'static [Column<R>], name: &str) -> Option<Boxed<'static, R>> {
    let mut all = in_files(columns).into_iter();
    all.find(|column| column.field().name == name)
}

/// The number in a column, in the unit of files.
pub(crate) fn number<R>(columns: &'static [Column<R>], name: &str, row: &R) -> Option<f64> {
    let column = find(columns, name)?;
    column.field().kind.in_files(&column.value(row)).number()
}

/// The number that a JSON object with these columns has under `name`, in the unit of files.
fn member<R>(columns: &'static [Column<R>], name: &str, object: &serde_json::Value) -> Option<f64> {
    let path = inorder_report::json::path(columns, name)?;
    path.iter()
        .try_fold(object, |inner, member| inner.get(member))?
        .as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_a_measure_exists_and_is_in_json() {
        fn sound<R>(columns: &'static [Column<R>], parts: &Parts) {
            for name in std::iter::once(&parts.of).chain(parts.per) {
                assert!(find(columns, name).is_some(), "{name}");
                assert!(
                    inorder_report::json::path(columns, name).is_some(),
                    "{name}"
                );
            }
        }
        for (at, measure) in MEASURES.iter().enumerate() {
            sound(FLOW, &measure.flow);
            measure.stream.iter().for_each(|parts| sound(STREAM, parts));
            assert!(
                MEASURES[..at]
                    .iter()
                    .all(|other| other.name != measure.name)
            );
            assert!(measure.about.ends_with('.'));
        }
    }
}
