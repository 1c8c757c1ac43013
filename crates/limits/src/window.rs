//! What holds a sender that sends as acknowledgements come, or soon after itself, by the state of its round trip.

use inorder_base::vantage::Vantage;

use super::reduced::Reduced;
use super::state::State;
use super::{Limit, LimitSet};

/// Fewer segments in flight are hardly what a socket's buffer allows: an application that writes little at a time and waits, as Nagle's
/// algorithm lets it (RFC 896), has as few. Of fewer than two this is sure.
pub(super) const MIN_BUFFER: i64 = 4;
pub(super) const MIN_BUFFER_AT_ALL: i64 = 2;

/// The application has nothing to send, or the socket's buffer is full.
pub(super) const BUFFERED: LimitSet = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);

/// A line before the capture point is full, or the application writes at this rate: no round trip shows a queue there.
const OWN_LINE: LimitSet = LimitSet::of(&[Limit::Application, Limit::Line]);

/// What holds it. That its flight stays the same may also be the application's doing, if no acknowledgement releases its data, or if the
/// capture does not show that, for it was made elsewhere.
pub(super) fn window(state: &State, vantage: Vantage) -> LimitSet {
    if state.steady && !state.line {
        return own_pace(vantage);
    }
    plateau(state, vantage)
        .or_else(|| line(state, vantage))
        .unwrap_or_else(|| growth(state, vantage))
}

/// What keeps a sender at one pace. A socket's buffer does so, too, if the capture does not show what releases its data.
fn own_pace(vantage: Vantage) -> LimitSet {
    match vantage {
        Vantage::Sender => Limit::Application.into(),
        _ => BUFFERED,
    }
}

/// The flight stays the same, and nothing else explains it better.
fn plateau(state: &State, vantage: Vantage) -> Option<LimitSet> {
    let (near, at_receiver) = (vantage == Vantage::Sender, vantage == Vantage::Receiver);
    let reduced = !matches!(state.reduced, Reduced::Not | Reduced::Perhaps);
    let released = !state.paced && !state.unused && near && !state.upstream;
    let set = match state.flight.segments {
        _ if !state.flight.plateau => return None,
        // A buffer that stands in the queue is no limit either.
        _ if state.standing => Limit::Line.into(),
        MIN_BUFFER_AT_ALL..MIN_BUFFER if !state.queue => BUFFERED,
        ..MIN_BUFFER_AT_ALL if !state.queue => Limit::Application.into(),
        _ if state.own_line => OWN_LINE,
        // An application that writes a little at a time keeps its flight, too.
        _ if !reduced && near && state.even && !state.delayed && !state.line => BUFFERED,
        _ if state.flight.fills_window => congestion(state.reduced).with(Limit::ReceiverWindow),
        // It does not grow, whatever stands in the queue. Where it was higher at other times, it is the line that holds it.
        _ if released && (state.flight.highest || !state.line) => Limit::SendBuffer.into(),
        // No round trip tells a line that is full from a flight that stays the same.
        _ if state.line && at_receiver && state.rtt_ns == 0 => BUFFERED.with(Limit::Line),
        // A buffer, too, keeps its flight and may keep the line busy.
        _ if state.line && !reduced => LimitSet::of(&[Limit::SendBuffer, Limit::Line]),
        _ => return None,
    };
    Some(set)
}

/// The line is busy, or seems so.
fn line(state: &State, vantage: Vantage) -> Option<LimitSet> {
    let set = match state.reduced {
        _ if !state.line => return None,
        _ if state.spare => LimitSet::of(&[Limit::Application, Limit::Line]),
        // Without round trips the first rows that come without gaps seem to fill the line, however much the window still grows.
        Reduced::Not if state.rising && vantage == Vantage::Receiver => Limit::Start.into(),
        reduced if state.rising => congestion(reduced).with(Limit::Line),
        _ if state.one_rate && !state.delayed => LimitSet::of(&[Limit::Application, Limit::Line]),
        // No queue shows, only a rate.
        reduced if !state.delayed && !matches!(reduced, Reduced::Either | Reduced::Perhaps) => {
            congestion(reduced).with(Limit::Line)
        }
        _ => Limit::Line.into(),
    };
    Some(set)
}

/// What holds it below the line.
fn growth(state: &State, vantage: Vantage) -> LimitSet {
    let (near, at_receiver) = (vantage == Vantage::Sender, vantage == Vantage::Receiver);
    match state.reduced {
        _ if state.own_line => OWN_LINE,
        _ if state.unused && !at_receiver && !state.queue => BUFFERED,
        _ if state.flight.plateau && near && !state.paced => Limit::SendBuffer.into(),
        _ if state.flight.plateau || state.spare => BUFFERED,
        // Slow start doubles it in a round trip (RFC 5681 section 3.1), but HyStart may have ended that (RFC 9406).
        Reduced::Not if state.flight.level => LimitSet::of(&[Limit::Start, Limit::SendBuffer]),
        _ if state.one_rate => LimitSet::of(&[Limit::Application, Limit::Line]),
        reduced if state.perhaps_line => congestion(reduced).with(Limit::Line),
        reduced => congestion(reduced),
    }
}

/// The congestion window by its reductions.
fn congestion(reduced: Reduced) -> LimitSet {
    match reduced {
        Reduced::Needed => Limit::WindowNeeded.into(),
        Reduced::Unneeded => Limit::WindowUnneeded.into(),
        Reduced::Either => LimitSet::of(&[Limit::WindowNeeded, Limit::WindowUnneeded]),
        Reduced::Not => Limit::Start.into(),
        Reduced::Perhaps => LimitSet::of(&[Limit::Start, Limit::WindowNeeded]),
    }
}
