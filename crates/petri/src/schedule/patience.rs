//! How many firings at one time are too many.

/// Firings at one time after which a zero-time loop is assumed, beyond what the initial tokens may cause.
const MAX_FIRINGS: u64 = 1_000_000;

/// The number of firings at one time that no net without a zero-time loop is expected to make: each transition may fire
/// once with each of the `tokens` that were there at the start.
pub(crate) fn zero_time_limit(tokens: u64, transitions: usize) -> u64 {
    MAX_FIRINGS.saturating_add(tokens.saturating_mul(transitions as u64))
}
