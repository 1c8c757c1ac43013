//! The habits of a run's endpoints in words, so that what is said of its captures can be judged by habit.

use inorder_scenario::Config as Scenario;
use inorder_scenario::config::Endpoint;
use inorder_tcp::Config;
use inorder_tcp::config::{DelayedAck, LossProbe};
use inorder_tcp::habits::{AckOfFill, AnswerDuplicates, Identification, Repeats};

use crate::build::{self, Recipe};
use crate::error::Error;
use crate::own::Own;

/// For each flow the habits of its sender and of its receiver, as JSON: names with words.
pub(super) fn of_flows(scenario: &Scenario) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for flow in &scenario.flows {
        let ends = [&flow.sender, &flow.receiver].map(|end| build::endpoint(end, &Own::default()));
        let [sender, receiver] = ends;
        let mut words = common("sender", &flow.sender);
        words.extend(of_sender(&sender?));
        words.extend(common("receiver", &flow.receiver));
        words.extend(of_receiver(receiver?.config()));
        let words: Vec<String> = words
            .iter()
            .map(|(name, word)| format!("\"{name}\": \"{word}\""))
            .collect();
        let json = format!("{{{}}}", words.join(", "));
        all.extend(std::iter::repeat_n(json, flow.count as usize));
    }
    Ok(all)
}

fn common(end: &str, given: &Endpoint) -> Vec<(String, String)> {
    let dialect = given.habits.dialect.as_ref().unwrap_or(&given.profile);
    vec![(format!("{end} dialect"), dialect.clone())]
}

fn of_sender(recipe: &Recipe) -> Vec<(String, String)> {
    let config = recipe.config();
    let habits = &config.habits;
    let timestamps = match config.options.timestamps {
        true => format!("tick {} us", config.options.timestamp_tick / 1000),
        false => "off".to_owned(),
    };
    let probe = match (config.recovery.loss_probe, habits.probe_after) {
        (LossProbe::Off, _) => "off".to_owned(),
        (_, Some(_)) => "in advance".to_owned(),
        (kind, None) => format!("{kind:?} {:?}", habits.probe_part),
    };
    let repeats = match habits.repeats {
        Repeats::Cut(_) => "Cut".to_owned(),
        other => format!("{other:?}"),
    };
    let words = [
        ("identification", identification(habits.identification)),
        ("timestamps", timestamps),
        ("tail probe", probe),
        ("repeats", repeats),
        ("after time-out", format!("{:?}", habits.after_timeout)),
        ("at duplicates", format!("{:?}", habits.at_duplicates)),
        ("loss detection", recipe.loss_detection().to_owned()),
        ("sack", config.options.sack.to_string()),
    ];
    named("sender", words)
}

fn of_receiver(config: &Config) -> Vec<(String, String)> {
    let habits = &config.habits;
    let acks = match (config.acks.delayed, habits.ack_batch) {
        (_, Some(_)) => "one for a batch".to_owned(),
        (DelayedAck::Off, None) => "each".to_owned(),
        (DelayedAck::Linux { .. }, None) => "as Linux".to_owned(),
        (DelayedAck::Rfc { segments, .. }, None) if segments > 100 => "by time".to_owned(),
        (DelayedAck::Rfc { segments, .. }, None) => format!("each {segments}"),
    };
    let fill = match habits.ack_of_fill {
        AckOfFill::AtOnce => "at once",
        AckOfFill::Delayed => "delayed",
    };
    let duplicates = match (
        habits.answer_duplicates,
        config.options.sack && config.options.dsack,
    ) {
        (AnswerDuplicates::Seldom, _) => "seldom",
        (_, true) => "DSACK",
        (_, false) => "plain ACK",
    };
    let paws = match config.options.paws && config.options.timestamps {
        true => format!("{:?}", habits.paws_answer),
        false => "none".to_owned(),
    };
    let blocks = match config.options.sack {
        true => format!("{:?}, at most {}", habits.sack_order, habits.sack_blocks),
        false => "off".to_owned(),
    };
    let words = [
        ("identification", identification(habits.identification)),
        ("acknowledges", acks),
        ("filled hole", fill.to_owned()),
        ("duplicates", duplicates.to_owned()),
        ("paws", paws),
        ("sack blocks", blocks),
        ("echo", format!("{:?}", habits.echo)),
        ("reneges", (habits.reneging > 0.0).to_string()),
        (
            "compression",
            config.acks.sack_compression.is_some().to_string(),
        ),
    ];
    named("receiver", words)
}

fn identification(habit: Identification) -> String {
    format!("{habit:?}")
}

fn named<const N: usize>(end: &str, words: [(&str, String); N]) -> Vec<(String, String)> {
    words
        .into_iter()
        .map(|(name, word)| (format!("{end} {name}"), word))
        .collect()
}
