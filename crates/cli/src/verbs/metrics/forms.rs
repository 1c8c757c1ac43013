//! The metrics under their names, as JSON and CSV.

use std::io::{self, Write};

use super::Report;

/// A value of the machine-readable forms; numbers are formatted, `null` stands for none.
pub enum Value {
    /// One number, or true or false.
    Scalar(String),
    /// Numbers, one a packet.
    List(Vec<String>),
    /// Numbers under numbers.
    Map(Vec<(String, String)>),
}

/// A number, `null` where there is none.
pub fn real(x: impl Into<Option<f64>>) -> String {
    let finite = x.into().filter(|x| x.is_finite());
    finite.map_or_else(|| "null".into(), |x| x.to_string())
}

/// Nanoseconds as milliseconds, exactly.
pub fn milliseconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, rest) = (ns.unsigned_abs() / 1_000_000, ns.unsigned_abs() % 1_000_000);
    let text = format!("{sign}{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> Value {
    Value::List(values.into_iter().map(|value| value.to_string()).collect())
}

fn map<K: ToString>(pairs: impl IntoIterator<Item = (K, String)>) -> Value {
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| (key.to_string(), value));
    Value::Map(pairs.collect())
}

/// Non-zero counts under n = 1, 2, ...
fn by_n(counts: &[u64]) -> Value {
    let counted = (1u64..).zip(counts).filter(|(_, count)| **count > 0);
    map(counted.map(|(n, count)| (n, count.to_string())))
}

impl Report {
    /// Every metric under its name.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let mut entries = self.counts();
        entries.extend(self.rfc_4737());
        entries.extend(self.rfc_5236());
        entries
    }

    fn counts(&self) -> Vec<(&'static str, Value)> {
        let counts = &self.summary.counts;
        let number = |n: u64| Value::Scalar(n.to_string());
        vec![
            ("complete", Value::Scalar(self.complete.to_string())),
            ("received", number(counts.received)),
            ("reordered", number(counts.reordered)),
            (
                "reordered_ratio",
                Value::Scalar(real(counts.reordered_ratio())),
            ),
            (
                "involved_ratio",
                Value::Scalar(real(self.summary.involved_ratio())),
            ),
            ("duplicates", number(counts.duplicates)),
            ("missing", number(counts.missing)),
            ("unclassified", number(counts.unclassified)),
            ("holes_given_up", number(counts.holes_given_up)),
            (
                "sequence_discontinuities",
                number(counts.sequence_discontinuities),
            ),
        ]
    }

    fn rfc_4737(&self) -> Vec<(&'static str, Value)> {
        let (lists, summary) = (&self.lists, &self.summary);
        let times = |keep: bool| if keep { lists.late_ns.as_slice() } else { &[] };
        let gaps_ms: Vec<i64> = if lists.timed {
            lists.gaps().1
        } else {
            Vec::new()
        };
        let (runs, n) = (&summary.runs, &summary.n_reordering);
        let bytes = |x: Option<f64>| Value::Scalar(real(x.filter(|_| lists.sized)));
        vec![
            ("extents", list(&lists.extents)),
            (
                "late_ms",
                list(times(lists.timed).iter().map(|ns| milliseconds(*ns))),
            ),
            ("byte_offsets", list(&lists.byte_offsets)),
            (
                "discontinuities",
                Value::Scalar(lists.discontinuities.len().to_string()),
            ),
            ("gaps", list(lists.gaps().0)),
            ("gaps_ms", list(gaps_ms.into_iter().map(milliseconds))),
            ("runs", list(&lists.runs)),
            ("run_mean", Value::Scalar(real(runs.mean()))),
            ("run_variation", Value::Scalar(real(runs.variation()))),
            ("run_mean_bytes", bytes(runs.mean_bytes())),
            ("run_variation_bytes", bytes(runs.variation_bytes())),
            ("n_reordering", by_n(&n.cumulative())),
            ("n_reordering_largest", by_n(n.largest())),
            (
                "n_reordering_truncated",
                Value::Scalar(n.truncated().to_string()),
            ),
        ]
    }

    fn rfc_5236(&self) -> Vec<(&'static str, Value)> {
        let (rd, rbd) = (&self.summary.displacements, &self.summary.occupancy);
        let number = |n: u64| Value::Scalar(n.to_string());
        let (early, late) = rd.beyond();
        vec![
            ("dt", number(self.dt.into())),
            ("rd_packets", number(rd.total())),
            ("rd", map(rd.density().map(|(d, share)| (d, real(share))))),
            ("rd_beyond_early", number(early)),
            ("rd_beyond_late", number(late)),
            (
                "mean_displacement",
                Value::Scalar(real(rd.mean_displacement())),
            ),
            ("entropy", Value::Scalar(real(rd.entropy()))),
            ("mean_lateness", Value::Scalar(real(rd.mean_lateness()))),
            ("mean_earliness", Value::Scalar(real(rd.mean_earliness()))),
            ("displacement_variance", Value::Scalar(real(rd.variance()))),
            ("late_ratio", Value::Scalar(real(rd.late_ratio()))),
            ("early_ratio", Value::Scalar(real(rd.early_ratio()))),
            ("displaced_ratio", Value::Scalar(real(rd.displaced_ratio()))),
            ("bt", number(self.bt.into())),
            ("rbd_packets", number(rbd.total())),
            ("rbd", map(rbd.density().map(|(k, share)| (k, real(share))))),
            ("rbd_mean", Value::Scalar(real(rbd.mean()))),
            ("rbd_given_up", number(rbd.given_up())),
        ]
    }
}

/// One object, an entry a line.
pub fn write_json(entries: &[(&str, Value)], out: &mut impl Write) -> io::Result<()> {
    for (index, (name, value)) in entries.iter().enumerate() {
        let text = match value {
            Value::Scalar(number) => number.clone(),
            Value::List(numbers) => format!("[{}]", numbers.join(",")),
            Value::Map(pairs) => {
                let pairs: Vec<_> = pairs.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", pairs.join(","))
            }
        };
        let open = if index == 0 { "{" } else { ",\n " };
        write!(out, "{open}\"{name}\":{text}")?;
    }
    writeln!(out, "}}")
}

/// Long form: scalars without a key, lists under 1, 2, ...
pub fn write_csv(entries: &[(&str, Value)], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "metric,key,value")?;
    for (name, value) in entries {
        match value {
            Value::Scalar(number) if number == "null" => writeln!(out, "{name},,")?,
            Value::Scalar(number) => writeln!(out, "{name},,{number}")?,
            Value::List(numbers) => {
                for (index, number) in (1u64..).zip(numbers) {
                    writeln!(out, "{name},{index},{number}")?;
                }
            }
            Value::Map(pairs) => {
                for (key, number) in pairs {
                    writeln!(out, "{name},{key},{number}")?;
                }
            }
        }
    }
    Ok(())
}
