//! Calls of the script, including blocking ones: when they return, and whether the result is as expected.

use inorder_tcp::Nanos;

use super::calls::{Calls, Peer};
use super::host::ORIGIN;
use super::sockets::Answer;
use super::{LONGEST_WAIT, Runner, Stop, finding, wire};
use crate::outcome::{Finding, Verdict};
use crate::script::{Call, Event, Moment, Value, When};

/// A call that has not returned.
pub(super) struct Pending {
    line: usize,
    call: Call,
    since: Nanos,
    /// The time at which it must return.
    until: Option<(i128, i128)>,
}

impl Runner<'_> {
    pub(super) fn call(&mut self, index: usize, event: &Event, call: &Call) -> Result<(), Stop> {
        // There is only one call at a time: the previous one must return first.
        if let Some(finding) = self.finish_pending() {
            return Err(match finding.verdict {
                Verdict::Unsupported => Stop::Unsupported(finding.message),
                _ => Stop::Failed(format!("line {}: {}", finding.line, finding.message)),
            });
        }
        let now = self.host.now;
        let until = event.until.map(|until| {
            // If the start of a call is relative, its end counts from the same time.
            let at = match (event.when, until) {
                (When::At(Moment::Relative(start)), Moment::Absolute(end)) => {
                    i128::from(now) + i128::from(end) - i128::from(start)
                }
                _ => self.moment(until),
            };
            (at - self.tolerance(), at + self.tolerance())
        });
        let peer = Peer {
            isn: self.next_isn(index),
            mss: self.next_mss(index),
        };
        let answer = self.ask(call, peer, now, true)?;
        self.trace_call(call, &answer);
        if answer == Answer::Wait {
            self.pending = Some(Pending {
                line: event.line,
                call: call.clone(),
                since: now,
                until,
            });
            if until.is_none() {
                return self
                    .finish_pending()
                    .map_or(Ok(()), |finding| Err(Stop::Failed(finding.message)));
            }
            return Ok(());
        }
        check_answer(call, &answer)?;
        check_return(until, now)
    }

    fn ask(&mut self, call: &Call, peer: Peer, since: Nanos, first: bool) -> Result<Answer, Stop> {
        self.table.acknowledge(&self.host);
        let answer = Calls {
            host: &mut self.host,
            table: &mut self.table,
            setup: &self.setup,
            peer,
            since,
            first,
        }
        .answer(call);
        self.table.acknowledge(&self.host);
        answer
    }

    /// Checks whether the blocked call can return now.
    pub(super) fn ask_pending(&mut self) -> Result<(), Stop> {
        self.table.acknowledge(&self.host);
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let answer = self.ask(&pending.call, Peer::default(), pending.since, false)?;
        if answer == Answer::Wait {
            self.pending = Some(pending);
            return Ok(());
        }
        self.trace_call(&pending.call, &answer);
        check_answer(&pending.call, &answer)
            .and_then(|()| check_return(pending.until, self.host.now))
            .map_err(|stop| match stop {
                Stop::Failed(message) => {
                    Stop::Failed(format!("call of line {}: {message}", pending.line))
                }
                stop => stop,
            })
    }

    /// Advances time until the blocked call returns; reports a wrong time or result.
    pub(super) fn finish_pending(&mut self) -> Option<Finding> {
        let pending = self.pending.as_ref()?;
        let line = pending.line;
        let patience = match pending.call.name.as_str() {
            "poll" => pending.call.arguments.get(2),
            "epoll_wait" => pending.call.arguments.get(3),
            _ => None,
        };
        let poll_end = match patience {
            Some(Value::Integer(ms)) if *ms >= 0 => {
                Some(pending.since.saturating_add(ms.saturating_mul(1_000_000)))
            }
            _ => None,
        };
        let limit = pending.until.map_or_else(
            || self.host.now.saturating_add(LONGEST_WAIT),
            |(_, to)| Nanos::try_from(to).unwrap_or(0),
        );
        while self.pending.is_some() {
            let next = poll_end.filter(|&end| end > self.host.now).unwrap_or(limit);
            let stepped = self.host.step(next.min(limit));
            if !stepped && poll_end.is_some_and(|end| end <= limit && self.host.now < end) {
                self.host.now = next;
            } else if !stepped {
                return Some(finding(
                    line,
                    Stop::Failed("the call does not return".to_owned()),
                ));
            }
            if let Err(stop) = self.ask_pending() {
                return Some(finding(line, stop));
            }
        }
        None
    }
}

/// Compares the result with the script.
fn check_answer(call: &Call, answer: &Answer) -> Result<(), Stop> {
    let (value, errno) = match answer {
        Answer::Value(value) => (*value, None),
        Answer::Errno(errno) => (-1, Some(*errno)),
        Answer::Wait => return Ok(()),
    };
    let same_value = call.result.is_none_or(|result| result == value);
    // An error that the script does not name can be any.
    let unnamed = call.result == Some(-1) && call.errno.is_none();
    let same_errno = call.result.is_none() || unnamed || call.errno.as_deref() == errno;
    // EWOULDBLOCK is another name for EAGAIN on every system for which these scripts are written.
    let again = call.errno.as_deref() == Some("EWOULDBLOCK") && errno == Some("EAGAIN");
    if same_value && (same_errno || again) {
        return Ok(());
    }
    let show = |value: Option<i64>, errno: Option<&str>| match (value, errno) {
        (Some(value), Some(errno)) => format!("{value} {errno}"),
        (Some(value), None) => value.to_string(),
        (None, _) => "...".to_owned(),
    };
    Err(Stop::Failed(format!(
        "{}: expected {}, returned {}",
        call.name,
        show(call.result, call.errno.as_deref()),
        show(Some(value), errno),
    )))
}

fn check_return(until: Option<(i128, i128)>, now: Nanos) -> Result<(), Stop> {
    match until {
        Some((from, to)) if !(from..=to).contains(&i128::from(now)) => Err(Stop::Failed(format!(
            "returned at {}, expected {}",
            wire::show_moment(now),
            wire::show_time((from + to) / 2 - i128::from(ORIGIN)),
        ))),
        _ => Ok(()),
    }
}
