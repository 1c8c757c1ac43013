//! Time lost by reductions, recoveries and timers without need, by what made the sender take something for lost.

use inorder_base::cause::Cause;
use inorder_cost::{RecoveryVerdict, Reduction};

use super::Limit;
use super::pieces::Piece;

/// Nanoseconds of the pieces that surely were unneeded, by the cause of the recovery in force, the most first.
pub(super) fn by_cause(pieces: &[Piece], recoveries: &[Reduction]) -> Vec<(Cause, i64)> {
    let misled = |r: &&Reduction| r.verdict == RecoveryVerdict::Spurious && r.cause.reduces();
    let misled: Vec<&Reduction> = recoveries.iter().filter(misled).collect();
    let mut sums: Vec<(Cause, i64)> = Vec::new();
    let mut add = |cause: Cause, ns: i64| match sums.iter_mut().find(|sum| sum.0 == cause) {
        Some(sum) => sum.1 += ns,
        None => sums.push((cause, ns)),
    };
    for piece in pieces {
        if !piece.limits.only().is_some_and(Limit::is_unneeded) {
            continue;
        }
        // A timer is waited for before the recovery that it starts.
        let timer = piece.limits == Limit::TimerUnneeded.into();
        let mut next = misled.partition_point(|r| r.start_ns <= piece.start_ns);
        if next == 0 || timer && next < misled.len() {
            next += 1;
        }
        let mut at = piece.start_ns;
        while at < piece.end_ns {
            let cause = misled.get(next - 1).map_or(Cause::Unknown, |r| r.cause);
            let until = misled.get(next).map_or(piece.end_ns, |r| r.start_ns);
            let until = until.clamp(at, piece.end_ns);
            add(cause, until - at);
            (at, next) = (until, next + 1);
        }
    }
    sums.sort_by_key(|sum| (-sum.1, sum.0));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_base::confidence::Confidence;

    #[test]
    fn time_goes_back_to_the_last_reduction_without_need() {
        let recovery = |start_ns, verdict, cause| Reduction {
            start_ns,
            seq_offset: 0,
            timeout: false,
            verdict,
            cause,
        };
        let recoveries = [
            recovery(10, RecoveryVerdict::Spurious, Cause::Reordering),
            recovery(30, RecoveryVerdict::Loss, Cause::Loss),
            recovery(60, RecoveryVerdict::Spurious, Cause::DelayJump),
        ];
        let piece = |start_ns, end_ns, limit: Limit| Piece {
            start_ns,
            end_ns,
            limits: limit.into(),
            confidence: Confidence::Likely,
        };
        let pieces = [
            piece(10, 30, Limit::RecoveryUnneeded),
            piece(30, 40, Limit::WindowNeeded),
            piece(40, 60, Limit::TimerUnneeded),
            piece(60, 65, Limit::RecoveryUnneeded),
        ];
        let sums = by_cause(&pieces, &recoveries);
        assert_eq!(sums, [(Cause::DelayJump, 25), (Cause::Reordering, 20)]);
    }
}
