//! Whether simulated time passes at all: on paths without rate and delay a flow that always has data goes round without end.

use crate::error::Error;

/// Checks in a row at one simulated time after which the run is given up. There are 131,072 events between two of them, so these are 33
/// million. What is under way at once is less than half of that ([`crate::queue::Queue::has_overflowed`]).
const CHECKS_AT_ONE_TIME: u32 = 1 << 8;

/// How long simulated time has stood still.
#[derive(Default, Debug)]
pub(crate) struct Standstill {
    at_ns: i64,
    checks: u32,
}

impl Standstill {
    /// The run is at `now_ns`.
    ///
    /// # Errors
    /// If it has been there for too many events.
    pub(crate) fn check(&mut self, now_ns: i64) -> Result<(), Error> {
        if now_ns != self.at_ns {
            *self = Standstill {
                at_ns: now_ns,
                checks: 0,
            };
        }
        self.checks += 1;
        if self.checks >= CHECKS_AT_ONE_TIME {
            return Err(Error::StandsStill { at_ns: now_ns });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_events_at_one_time_end_a_run_unless_time_passes_between_them() {
        let mut standstill = Standstill::default();
        for now_ns in [0, 7, 7, 8] {
            for _ in 1..CHECKS_AT_ONE_TIME / 2 {
                assert_eq!(standstill.check(now_ns), Ok(()));
            }
        }
        let mut checks = (0..CHECKS_AT_ONE_TIME).map(|_| standstill.check(8));
        let ended = checks.find_map(Result::err);
        assert_eq!(ended, Some(Error::StandsStill { at_ns: 8 }));
        assert!(
            ended
                .unwrap()
                .to_string()
                .starts_with("time stands still at 0.000000008 s")
        );
    }
}
