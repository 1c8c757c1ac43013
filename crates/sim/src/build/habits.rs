//! The habits of endpoints.

use inorder_scenario::config::{self as plain, Habits as Given};
use inorder_tcp::Config;
use inorder_tcp::config::{BeyondWindow, WindowAccount, WindowUpdate};
use inorder_tcp::habits::{
    AckOfFill, AfterTimeout, AnswerDuplicates, AtDuplicates, Echo, Habits, Identification,
    PawsAnswer, ProbePart, Repeats, SackOrder,
};

/// Replaces the dialect's habits by those the scenario gives.
pub(super) fn apply(given: &Given, config: &mut Config) {
    config.options.timestamp_tick = given
        .timestamp_tick_ns
        .unwrap_or(config.options.timestamp_tick);
    config.receive.account = given
        .window_account
        .map_or(config.receive.account, window_account);
    config.receive.update = given
        .window_update
        .map_or(config.receive.update, window_update);
    config.receive.beyond = given
        .beyond_window
        .map_or(config.receive.beyond, beyond_window);
    sender(given, &mut config.habits);
    receiver(given, &mut config.habits);
}

fn sender(given: &Given, habits: &mut Habits) {
    habits.identification = given
        .identification
        .map_or(habits.identification, identification);
    habits.random_timestamps = given.random_timestamps.unwrap_or(habits.random_timestamps);
    habits.probe_part = given.probe_part.map_or(habits.probe_part, probe_part);
    habits.probe_after = given.probe_after_ns.or(habits.probe_after);
    habits.repeats = match given.repeats {
        None => habits.repeats,
        Some(plain::Repeats::AsCut) => Repeats::AsCut,
        Some(plain::Repeats::Joined) => Repeats::Joined,
        Some(plain::Repeats::Cut) => Repeats::Cut(given.repeats_size),
    };
    habits.after_timeout = match given.after_timeout {
        None => habits.after_timeout,
        Some(plain::AfterTimeout::Missing) => AfterTimeout::Missing,
        Some(plain::AfterTimeout::Outstanding) => AfterTimeout::Outstanding,
    };
    habits.at_duplicates = match given.at_duplicates {
        None => habits.at_duplicates,
        Some(plain::AtDuplicates::Lost) => AtDuplicates::Lost,
        Some(plain::AtDuplicates::Window) => AtDuplicates::Window,
    };
}

fn receiver(given: &Given, habits: &mut Habits) {
    habits.ack_batch = given.ack_batch_ns.or(habits.ack_batch);
    habits.ack_of_fill = match given.ack_of_fill {
        None => habits.ack_of_fill,
        Some(plain::AckOfFill::AtOnce) => AckOfFill::AtOnce,
        Some(plain::AckOfFill::Delayed) => AckOfFill::Delayed,
    };
    habits.answer_duplicates = match given.answer_duplicates {
        None => habits.answer_duplicates,
        Some(plain::AnswerDuplicates::AtOnce) => AnswerDuplicates::AtOnce,
        Some(plain::AnswerDuplicates::Seldom) => AnswerDuplicates::Seldom,
    };
    habits.paws_answer = match given.paws_answer {
        None => habits.paws_answer,
        Some(plain::PawsAnswer::Dsack) => PawsAnswer::Dsack,
        Some(plain::PawsAnswer::Ack) => PawsAnswer::Ack,
    };
    habits.sack_order = match given.sack_order {
        None => habits.sack_order,
        Some(plain::SackOrder::Newest) => SackOrder::Newest,
        Some(plain::SackOrder::Ascending) => SackOrder::Ascending,
        Some(plain::SackOrder::Random) => SackOrder::Random,
    };
    habits.sack_blocks = given.sack_blocks.unwrap_or(habits.sack_blocks);
    habits.echo = match given.echo {
        None => habits.echo,
        Some(plain::Echo::Rfc7323) => Echo::Rfc7323,
        Some(plain::Echo::Newest) => Echo::Newest,
        Some(plain::Echo::Last) => Echo::Last,
    };
    habits.reneging = given.reneging.unwrap_or(habits.reneging);
}

fn identification(word: plain::Identification) -> Identification {
    match word {
        plain::Identification::Plain => Identification::Plain,
        plain::Identification::Own => Identification::Own,
        plain::Identification::Host => Identification::Host,
        plain::Identification::HostSwapped => Identification::HostSwapped,
        plain::Identification::Zero => Identification::Zero,
        plain::Identification::Random => Identification::Random,
        plain::Identification::Kept => Identification::Kept,
    }
}

fn probe_part(word: plain::ProbePart) -> ProbePart {
    match word {
        plain::ProbePart::LastSegment => ProbePart::LastSegment,
        plain::ProbePart::LastBytes => ProbePart::LastBytes,
    }
}

fn window_account(word: plain::WindowAccount) -> WindowAccount {
    match word {
        plain::WindowAccount::Unread => WindowAccount::Unread,
        plain::WindowAccount::Memory => WindowAccount::Memory,
        plain::WindowAccount::Room => WindowAccount::Room,
    }
}

fn window_update(word: plain::WindowUpdate) -> WindowUpdate {
    match word {
        plain::WindowUpdate::TwoSegments => WindowUpdate::TwoSegments,
        plain::WindowUpdate::Doubled => WindowUpdate::Doubled,
    }
}

fn beyond_window(word: plain::BeyondWindow) -> BeyondWindow {
    match word {
        plain::BeyondWindow::Cut => BeyondWindow::Cut,
        plain::BeyondWindow::Take => BeyondWindow::Take,
        plain::BeyondWindow::TakeIfEmpty => BeyondWindow::TakeIfEmpty,
    }
}
