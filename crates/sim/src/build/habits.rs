//! The habits of endpoints.

use inorder_scenario::config::{self as plain, Habits as Given};
use inorder_tcp::Config;
use inorder_tcp::habits::{Habits, Repeats};

use super::endpoint::replace;

/// Replaces the dialect's habits by those the scenario gives.
pub(super) fn apply(given: &Given, config: &mut Config) {
    replace(&mut config.options.timestamp_tick, given.timestamp_tick_ns);
    replace(&mut config.receive.account, given.window_account);
    replace(&mut config.receive.update, given.window_update);
    replace(&mut config.receive.beyond, given.beyond_window);
    sender(given, &mut config.habits);
    receiver(given, &mut config.habits);
}

fn sender(given: &Given, habits: &mut Habits) {
    replace(&mut habits.identification, given.identification);
    replace(&mut habits.random_timestamps, given.random_timestamps);
    replace(&mut habits.probe_part, given.probe_part);
    habits.probe_after = given.probe_after_ns.or(habits.probe_after);
    habits.repeats = match given.repeats {
        None => habits.repeats,
        Some(plain::Repeats::AsCut) => Repeats::AsCut,
        Some(plain::Repeats::Joined) => Repeats::Joined,
        Some(plain::Repeats::Cut) => Repeats::Cut(given.repeats_size),
    };
    replace(&mut habits.after_timeout, given.after_timeout);
    replace(&mut habits.at_duplicates, given.at_duplicates);
}

fn receiver(given: &Given, habits: &mut Habits) {
    habits.ack_batch = given.ack_batch_ns.or(habits.ack_batch);
    replace(&mut habits.ack_of_fill, given.ack_of_fill);
    replace(&mut habits.answer_duplicates, given.answer_duplicates);
    replace(&mut habits.paws_answer, given.paws_answer);
    replace(&mut habits.sack_order, given.sack_order);
    replace(&mut habits.sack_blocks, given.sack_blocks);
    replace(&mut habits.echo, given.echo);
    replace(&mut habits.reneging, given.reneging);
}
