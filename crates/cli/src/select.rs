//! The options that select packets of a capture.

use std::str::FromStr;

use inorder_pipeline::{Filter, Moment, Selection};
use jiff::{SignedDuration, Timestamp};

use crate::error::{CliError, usage};

/// Which packets of a capture are analysed.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Select {
    /// Only connections and streams that EXPR selects, such as `10.0.0.0/8 and not port 22`; see below
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<Filter>,
    /// Only packets from TIME on: 2024-05-01T12:00:00Z, or +1.5s after the first packet of the capture
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub from: Option<Moment>,
    /// Only packets before TIME
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub to: Option<Moment>,
}

/// The language of `--filter` and the times, for the help of verbs that read captures.
pub(crate) const HELP: &str = "\
Filters: ADDRESS, PREFIX/BITS, port N, port N-M, ADDRESS:PORT, [IPv6]:PORT; src or dst before them; flows \
A:p->B:q (one direction) and A:p<->B:q (both), where * is anything; tcp, udp, or a numbered service (rtp, esp, wireguard, sctp, ...: docs/services.md); \
ipv4, ipv6; overlay N; vlan N; combined with not, and, or and parentheses. Packets that are not selected take no memory. A \
connection of which one direction is selected is analysed with both, and reported in the selected one.\n\n\
Times: RFC 3339 with an offset (2024-05-01T12:00:00.5+02:00), or a duration after the first packet of the capture \
(+1.5s, 90s, 2m, 1h 30m). A connection that was open before --from is analysed like one whose start was not captured.";

impl Select {
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            filter: self.filter.clone(),
            from: self.from,
            until: self.to,
        }
    }

    /// Refuses a stretch of time that ends before it begins. Of times of different kinds only the capture tells that.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let backwards = match (self.from, self.to) {
            (Some(Moment::At(from)), Some(Moment::At(to)))
            | (Some(Moment::After(from)), Some(Moment::After(to))) => from >= to,
            _ => false,
        };
        match backwards {
            true => usage!(
                "{}: no time is between these; expected --to later than --from",
                self.describe()
            ),
            false => Ok(()),
        }
    }

    /// True if every packet is selected.
    pub(crate) fn is_all(&self) -> bool {
        self.selection() == Selection::default()
    }

    /// The options as they would be typed.
    pub(crate) fn describe(&self) -> String {
        let filter = self.filter.as_ref().map(|f| format!("--filter '{f}'"));
        let times = [("--from", self.from), ("--to", self.to)];
        let times = times.into_iter().filter_map(|(name, time)| match time? {
            Moment::At(ns) => Some(format!("{name} {}", instant(ns))),
            Moment::After(ns) => Some(format!("{name} +{:#}", SignedDuration::from_nanos(ns))),
        });
        let all: Vec<String> = filter.into_iter().chain(times).collect();
        all.join(" ")
    }
}

fn instant(ns: i64) -> String {
    match Timestamp::from_nanosecond(ns.into()) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{ns} ns"),
    }
}

/// Parses an absolute time (RFC 3339, with an offset) or a duration after the first packet of a capture (`+1.5s`).
///
/// # Errors
/// One line that says what was expected.
pub fn moment(text: &str) -> Result<Moment, String> {
    let nanoseconds =
        |ns: i128| i64::try_from(ns).map_err(|_| "it is outside the years 1677 to 2262".to_owned());
    if let Ok(duration) = SignedDuration::from_str(text) {
        if duration.is_negative() {
            return Err("a duration after the first packet cannot be negative".to_owned());
        }
        return nanoseconds(duration.as_nanos()).map(Moment::After);
    }
    match Timestamp::from_str(text) {
        Ok(time) => nanoseconds(time.as_nanosecond()).map(Moment::At),
        Err(_) => Err(
            "expected a time with an offset such as 2024-05-01T12:00:00Z, or a duration after the first packet \
             such as +1.5s or 2m"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_or_relative() {
        let second = 1_000_000_000;
        for (text, expected) in [
            ("+1.5s", Moment::After(1_500_000_000)),
            ("90s", Moment::After(90 * second)),
            ("2m", Moment::After(120 * second)),
            ("1h 30m", Moment::After(5_400 * second)),
            ("250ms", Moment::After(250_000_000)),
            ("0s", Moment::After(0)),
            ("1970-01-01T00:00:01Z", Moment::At(second)),
            ("1970-01-01T02:00:01.5+02:00", Moment::At(1_500_000_000)),
        ] {
            assert_eq!(moment(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "-3s",
            "noon",
            "1.5",
            "2024-05-01T12:00:00",
            "9999-12-30T00:00:00Z",
        ] {
            let problem = moment(text).expect_err(text);
            assert!(!problem.contains('\n'), "{problem}");
        }
    }
}
