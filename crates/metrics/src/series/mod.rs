//! Every metric of a series of packets, as the verb `metrics` prints it: [`METRICS`](crate::METRICS), and the values of
//! single packets as lists.

mod columns;
mod table;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use crate::{
    Arrival, Config, Distribution, MAX_SEQ, Metrics, Record, RecordParser, Summary, Unwrapper,
};

pub use columns::SERIES;
pub use table::write_text;

/// Numbers that wrap count from here, so that there is room on both sides whatever their width.
const MIDDLE: u64 = MAX_SEQ / 2 + 1;
/// Longest line, bytes: a number, a time and a size take fewer than a hundred, and a comment hardly more.
const MAX_LINE: u64 = 1 << 20;
/// What a reordered packet takes in the lists, bytes, with what is printed of them: four numbers with room for as many more, its place among the
/// discontinuities (33), and copies of the two lists between these.
const BYTES_OF_LATE: usize = 140;

/// The metrics of a series of packets, and the values listed for single packets.
///
/// ```
/// use inorder_metrics::{Config, Record, SERIES, Series};
///
/// let mut series = Series::new(64, Config::default())?;
/// for seq in [1, 2, 3, 5, 6, 4] {
///     series.update(&Record { seq, time_ns: None, bytes: None });
/// }
/// let report = series.finish(true);
/// let mut csv = Vec::new();
/// inorder_report::csv::write_long(&mut csv, SERIES, &report)?;
/// assert!(String::from_utf8(csv)?.contains("\nextents,1,2\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Series {
    metrics: Metrics,
    unwrapper: Unwrapper,
    /// Of numbers that wrap, the unwrapped one that counts as [`MIDDLE`]: the start, or the first to come.
    origin: Option<u64>,
    bits: u32,
    lists: Lists,
    /// Number of first copies so far, and of those in order since the last reordered one.
    received: u64,
    run: u64,
    dt: u16,
    bt: u16,
}

/// Values for each reordered packet, in order of arrival.
#[derive(Default)]
struct Lists {
    extents: Vec<u64>,
    late_ns: Vec<i64>,
    byte_offsets: Vec<u64>,
    runs: Vec<u64>,
    /// Arrival times of the discontinuities, by position in the order of arrival.
    discontinuities: BTreeMap<u64, i64>,
    /// Packets for which there is room, `None` without a limit, and those that came when it was used up.
    room: Option<usize>,
    left_out: u64,
    timed: bool,
    sized: bool,
}

/// Everything that is known of a series of packets: the rows of [`SERIES`] are made of it.
pub struct SeriesReport {
    summary: Summary,
    lists: Lists,
    dt: u16,
    bt: u16,
    complete: bool,
}

impl SeriesReport {
    /// Packets that arrived, duplicates not counted.
    pub fn received(&self) -> u64 {
        self.summary.order.received
    }

    /// Reordered packets that no list has, because the memory for lists was used up ([`Series::within`]).
    pub fn left_out_of_lists(&self) -> u64 {
        self.lists.left_out
    }

    /// Gaps that were forgotten because more were open at once than are remembered.
    pub fn holes_given_up(&self) -> u64 {
        self.summary.counts.holes_given_up
    }

    /// Packets that arrived in gaps that had been forgotten, or are numbered below the start: no count of late packets has them.
    pub fn unclassified(&self) -> u64 {
        self.summary.counts.unclassified
    }
}

/// The number of the first packet does not fit into the width of the numbers, or there are no numbers of this width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoesNotFit {
    bits: u32,
}

impl std::fmt::Display for DoesNotFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "start does not fit in {} bits", self.bits)
    }
}

impl std::error::Error for DoesNotFit {}

impl Series {
    /// Numbers of `bits` bits; those of 16 and 32 wrap. `config.start` is as in the packets, not yet unwrapped.
    ///
    /// # Errors
    /// If numbers of this width are not supported, or the start does not fit.
    pub fn new(bits: u32, config: Config) -> Result<Self, DoesNotFit> {
        let wrong = DoesNotFit { bits };
        let mut unwrapper = Unwrapper::new(bits).ok_or(wrong)?;
        let mut origin = None;
        let max = MAX_SEQ.min(u64::MAX >> (64 - bits));
        if config.start.is_some_and(|start| start > max) {
            return Err(wrong);
        }
        let config = Config {
            start: config
                .start
                .map(|start| unwrapped(&mut unwrapper, &mut origin, bits, start)),
            ..config
        };
        Ok(Series {
            metrics: Metrics::new(config),
            unwrapper,
            origin,
            bits,
            lists: Lists::default(),
            received: 0,
            run: 0,
            dt: config.displacement_threshold,
            bt: config.buffer_threshold,
        })
    }

    /// Lists values of single packets only as far as they take no more than `memory`, bytes; everything else takes the same, however many
    /// packets there are.
    #[must_use]
    pub fn within(mut self, memory: Option<usize>) -> Self {
        self.lists.room = memory.map(|bytes| bytes / BYTES_OF_LATE);
        self
    }

    /// Takes every line up to the first malformed one; returns the number of that line and what is wrong with it.
    ///
    /// # Errors
    /// If `input` cannot be read.
    pub fn read(&mut self, mut input: impl BufRead) -> io::Result<Option<(u64, String)>> {
        let mut parser = RecordParser::new(self.bits);
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            let mut bounded = input.by_ref().take(MAX_LINE);
            if bounded.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if bounded.limit() == 0 {
                let problem = format!("expected a line of fewer than {MAX_LINE} bytes");
                return Ok(Some((number, problem)));
            }
            let Ok(text) = std::str::from_utf8(&line) else {
                return Ok(Some((number, "expected text, found other bytes".into())));
            };
            match parser.parse(text) {
                Ok(Some(record)) => self.update(&record),
                Ok(None) => {}
                Err(error) => return Ok(Some((number, error.to_string()))),
            }
        }
        Ok(None)
    }

    /// A packet arrives.
    pub fn update(&mut self, record: &Record) {
        let time_ns = record.time_ns.unwrap_or(0);
        self.lists.timed |= record.time_ns.is_some();
        self.lists.sized |= record.bytes.is_some();
        let seq = unwrapped(&mut self.unwrapper, &mut self.origin, self.bits, record.seq);
        match self.metrics.update(seq, time_ns, record.bytes.unwrap_or(0)) {
            Arrival::InOrder { .. } => {
                self.received += 1;
                self.run += 1;
            }
            Arrival::Reordered(late) => {
                self.received += 1;
                let lists = &mut self.lists;
                if lists.room.is_some_and(|room| lists.extents.len() >= room) {
                    lists.left_out += 1;
                    return;
                }
                lists.extents.push(late.extent);
                lists.late_ns.push(late.late_ns);
                lists.byte_offsets.push(late.byte_offset);
                lists.runs.push(std::mem::take(&mut self.run));
                let position = self.received.saturating_sub(late.extent);
                let time = time_ns.saturating_sub(late.late_ns);
                lists.discontinuities.insert(position, time);
            }
            Arrival::Duplicate | Arrival::Unclassified => {}
        }
    }

    /// The report; `complete` is false if something ended the input early.
    pub fn finish(self, complete: bool) -> SeriesReport {
        let mut summary = self.metrics.finish();
        if !self.lists.timed {
            // Without times, late times are unknown.
            summary.order.late_ns = Distribution::new();
        }
        SeriesReport {
            summary,
            lists: self.lists,
            dt: self.dt,
            bt: self.bt,
            complete,
        }
    }
}

/// The number that `raw` of `bits` bits stands for; of those that wrap, the first is [`MIDDLE`].
fn unwrapped(unwrapper: &mut Unwrapper, origin: &mut Option<u64>, bits: u32, raw: u64) -> u64 {
    let extended = unwrapper.extend(raw);
    if bits == 64 {
        return extended;
    }
    let origin = *origin.get_or_insert(extended);
    extended.wrapping_sub(origin).wrapping_add(MIDDLE)
}

impl Lists {
    /// Distances between successive discontinuities, packets and nanoseconds.
    fn gaps(&self) -> (Vec<u64>, Vec<i64>) {
        let next = self.discontinuities.iter().skip(1);
        let pairs = self.discontinuities.iter().zip(next);
        pairs
            .map(|(a, b)| (b.0 - a.0, b.1.saturating_sub(*a.1)))
            .unzip()
    }
}

#[cfg(test)]
mod tests {
    use inorder_report::{csv, json};

    use super::*;

    fn measure(text: &str, bits: u32, thresholds: u16) -> (SeriesReport, Option<(u64, String)>) {
        let config = Config {
            displacement_threshold: thresholds,
            buffer_threshold: thresholds,
            ..Config::default()
        };
        let mut series = Series::new(bits, config).unwrap();
        let bad = series.read(text.as_bytes()).unwrap();
        (series.finish(bad.is_none()), bad)
    }

    fn json(report: &SeriesReport) -> serde_json::Value {
        let mut out = Vec::new();
        json::write(&mut out, SERIES, report).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    /// The example of RFC 4737 section 7.1, with times and sizes.
    const LATE: &str = "seq,time_s,bytes\n1,0.068,100\n2,0.088,100\n3,0.108,100\n5,0.148,100\n\
        6,0.168,100\n7,0.188,100\n8,0.208,100\n# now the late one\n4,0.210,100\n\n9,0.228,100\n\
        10,0.248,100\n";

    #[test]
    fn one_late_packet() {
        let (report, bad) = measure(LATE, 64, 200);
        assert_eq!(bad, None);
        let json = json(&report);
        assert_eq!(json["received"], 10);
        assert_eq!(json["reordered_ratio"], 0.1);
        assert_eq!(json["extents"], serde_json::json!([4]));
        assert_eq!(json["late_ms"], serde_json::json!([62.0]));
        assert_eq!(json["byte_offsets"], serde_json::json!([400]));
        assert_eq!(
            json["n_reordering"],
            serde_json::json!({"1": 1, "2": 1, "3": 1, "4": 1})
        );
        assert_eq!(json["n_reordering_largest"], serde_json::json!({"4": 1}));
        assert_eq!(json["runs"], serde_json::json!([7]));
    }

    #[test]
    fn numbers_of_every_width_wrap() {
        for bits in 8..64 {
            let last = u64::MAX >> (64 - bits);
            let numbers = format!("{}\n{last}\n1\n0\n2\n", last - 1);
            for start in [None, Some(last - 1)] {
                let config = Config {
                    start,
                    ..Config::default()
                };
                let mut series = Series::new(bits, config).unwrap();
                assert_eq!(series.read(numbers.as_bytes()).unwrap(), None);
                let json = json(&series.finish(true));
                assert_eq!(
                    (&json["received"], &json["missing"]),
                    (&5.into(), &0.into())
                );
                assert_eq!(json["extents"], serde_json::json!([1]), "{bits} bits");
            }
        }
    }

    #[test]
    fn densities_and_thresholds() {
        let numbers = "1\n4\n2\n5\n3\n6\n7\n8\n";
        let (report, _) = measure(numbers, 64, 4);
        let json = json(&report);
        let rd = serde_json::json!({"-2": 0.125, "-1": 0.125, "0": 0.5, "1": 0.125, "2": 0.125});
        assert_eq!(json["rd"], rd);
        assert_eq!(
            json["rbd"],
            serde_json::json!({"0": 0.625, "1": 0.25, "2": 0.125})
        );
        assert_eq!(json["late_ms"], serde_json::json!([]));
        assert_eq!(json["run_mean_bytes"], serde_json::Value::Null);
    }

    #[test]
    fn two_discontinuities() {
        let numbers = "1 2 3 6 7 4 5 8 9 10 12 13 11 14 15 16".replace(' ', "\n");
        let (report, _) = measure(&numbers, 64, 200);
        let json = json(&report);
        assert_eq!(json["gaps"], serde_json::json!([7]));
        assert_eq!(json["runs"], serde_json::json!([5, 0, 5]));
        assert_eq!(json["discontinuities"], report.summary.gaps.count());
    }

    #[test]
    fn lines_before_a_malformed_line_count() {
        let (report, bad) = measure("65535\n0\n65536\n1\n", 16, 200);
        let problem = "expected a sequence number of 16 bits, 0 to 65535".to_string();
        assert_eq!(bad, Some((3, problem)));
        let json = json(&report);
        assert_eq!(
            (&json["received"], &json["complete"]),
            (&2.into(), &false.into())
        );
        assert_eq!(json["reordered"], 0);
    }

    #[test]
    fn csv_has_one_line_per_value_and_text_is_a_table() {
        for text in ["", "7\n", LATE] {
            let (report, _) = measure(text, 64, 200);
            let (mut long, mut table) = (Vec::new(), Vec::new());
            csv::write_long(&mut long, SERIES, &report).unwrap();
            write_text(&mut table, &report).unwrap();
            let csv = String::from_utf8(long).unwrap();
            assert!(csv.lines().all(|line| line.split(',').count() == 3));
            assert!(String::from_utf8(table).unwrap().contains("\nentropy "));
            assert!(json(&report)["entropy"].is_number());
        }
    }

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(SERIES), Vec::<String>::new());
    }

    #[test]
    fn lists_have_as_many_packets_as_there_is_memory_for() {
        let numbers: String = (1..=1_000).rev().map(|seq| format!("{seq}\n")).collect();
        let measured = |memory| {
            let config = Config {
                start: Some(1),
                ..Config::default()
            };
            let mut series = Series::new(64, config).unwrap().within(memory);
            series.read(numbers.as_bytes()).unwrap();
            series.finish(true)
        };
        let (all, some) = (measured(None), measured(Some(100 * BYTES_OF_LATE)));
        assert_eq!(
            (all.left_out_of_lists(), some.left_out_of_lists()),
            (0, 899)
        );
        let (all, some) = (json(&all), json(&some));
        let extents = |json: &serde_json::Value| json["extents"].as_array().unwrap().clone();
        assert_eq!(extents(&some), extents(&all)[..100]);
        // What is no list is the same.
        for name in ["reordered", "reordered_ratio", "n_reordering", "rd"] {
            assert_eq!(some[name], all[name], "{name}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_its_end() {
        let mut series = Series::new(64, Config::default()).unwrap();
        let mut endless = io::BufReader::new(io::repeat(b'1'));
        let (line, problem) = series.read(&mut endless).unwrap().unwrap();
        assert_eq!((line, problem.contains("fewer than")), (1, true));
    }
}
