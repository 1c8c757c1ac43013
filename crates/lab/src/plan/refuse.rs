//! What of a scenario real Linux cannot do.
//!
//! Keys of endpoints are refused unless this module or `endpoint` knows them: a new key of the simulator is refused
//! until somebody says what it means on Linux.

use inorder_scenario::config::{
    self as plain, DelayedAck, Growth, LimitedTransmit, Reduction, RtoStyle,
};
use inorder_scenario::{Config, Error, Scenario};

use super::card;

/// Most connections of a run: each one has two threads in the guest.
const MAX_CONNECTIONS: u32 = 1000;
/// Most `[[flow]]` tables: each one has two hosts with networks of their own.
const MAX_GROUPS: usize = 200;

/// Refuses what needs no knowledge of the network.
pub(super) fn check(scenario: &Scenario, number: usize, config: &Config) -> Result<(), Error> {
    let refuse =
        |key: &str, what: &str, expected: &str| Err(scenario.refuse(number, key, what, expected));
    if !config.probes.is_empty() {
        return refuse("probe", "the lab has no numbered packets", "only [[flow]]");
    }
    if !config.lines.is_empty() {
        return refuse(
            "line",
            "the lab has no lines of their own",
            "only [[forward]] and [[reverse]]",
        );
    }
    for (key, card) in [
        ("receiver_card", &config.receiver_card),
        ("sender_card", &config.sender_card),
    ] {
        let Some(card) = card else { continue };
        for name in scenario.given(number, key)? {
            if let Some((what, expected)) = card::refused(card, &name) {
                return refuse(&format!("{key}.{name}"), what, expected);
            }
        }
    }
    if config.output.events {
        return refuse(
            "output.events",
            "real Linux does not report these events",
            "false",
        );
    }
    let connections: u32 = config
        .flows
        .iter()
        .map(|flow| flow.count)
        .fold(0, u32::saturating_add);
    if connections > MAX_CONNECTIONS {
        return refuse(
            "flow",
            &format!("{connections} connections"),
            &format!("at most {MAX_CONNECTIONS}"),
        );
    }
    if config.flows.len() > MAX_GROUPS {
        return refuse(
            "flow",
            "too many [[flow]] tables",
            &format!("at most {MAX_GROUPS}"),
        );
    }
    for (group, flow) in config.flows.iter().enumerate() {
        let at = format!("flow.{group}");
        check_flow(scenario, number, &at, flow)?;
        for (end, endpoint) in [("sender", &flow.sender), ("receiver", &flow.receiver)] {
            let at = format!("{at}.{end}");
            for key in scenario.given(number, &at)? {
                if let Some((what, expected)) = refused(endpoint, &key) {
                    return refuse(&format!("{at}.{key}"), &what, expected);
                }
            }
        }
    }
    Ok(())
}

fn check_flow(
    scenario: &Scenario,
    number: usize,
    at: &str,
    flow: &plain::Flow,
) -> Result<(), Error> {
    let refuse = |key: &str, what: &str, expected: &str| {
        Err(scenario.refuse(number, &format!("{at}.{key}"), what, expected))
    };
    if flow.path == plain::PathUse::Own {
        return refuse("path", "the lab has one path for all flows", "\"shared\"");
    }
    if flow.route.is_some() || flow.return_route.is_some() {
        return refuse(
            "route",
            "the lab has no routes",
            "the paths of the two directions",
        );
    }
    if flow.read_bits_per_s.is_some() {
        let what = "the lab's receivers read at once";
        return refuse("read_rate", what, "no read_rate");
    }
    if flow.events {
        return refuse("events", "real Linux does not report these events", "false");
    }
    Ok(())
}

/// Why a key of an endpoint is refused with its value; none if Linux can do it, or does it anyway.
pub(super) fn refused(endpoint: &plain::Endpoint, key: &str) -> Option<(String, &'static str)> {
    let no = |good: bool, what: &str, expected: &'static str| {
        (!good).then(|| (what.to_owned(), expected))
    };
    let of_linux = "Linux has no such setting";
    let linux = |good, expected| no(good, of_linux, expected);
    match key {
        "congestion" | "loss_detection" | "dupthresh" | "mss" | "initial_window"
        | "initial_ssthresh" | "cwnd_clamp" | "sack" | "dsack" | "timestamps"
        | "receive_buffer" | "window_scaling" | "receive_autotuning" | "send_buffer"
        | "send_autotuning" | "sack_compression" | "pacing" | "rto_min" | "frto"
        | "restart_after_idle" => None,
        "profile" => no(
            endpoint.profile == "linux-6",
            "the lab runs Linux 6",
            "\"linux-6\"",
        ),
        "ecn" => no(
            !matches!(
                endpoint.ecn,
                Some(plain::Ecn::Accurate | plain::Ecn::AcceptAccurate)
            ),
            "the lab's kernel has no accurate ECN",
            "\"on\"",
        ),
        "ecn_codepoint" => no(
            endpoint.ecn_codepoint == plain::EcnCodepoint::Ect0,
            "Linux's DCTCP sends ECT(0)",
            "\"ect0\"",
        ),
        "receive_offer" => linux(endpoint.receive_offer == Some(65_535), "\"65535 B\""),
        "paws" => linux(endpoint.paws == Some(true), "true"),
        "delayed_ack" => linux(
            endpoint.delayed_ack != Some(DelayedAck::Rfc),
            "\"linux\" or \"off\"",
        ),
        "delayed_ack_timeout" => {
            linux(endpoint.delayed_ack_timeout_ns == 200_000_000, "\"200 ms\"")
        }
        "delayed_ack_segments" => linux(endpoint.delayed_ack_segments == 2, "2"),
        "nagle" => linux(
            endpoint.nagle != Some(plain::Nagle::Rfc896),
            "\"minshall\" or \"off\"",
        ),
        "tso_segments" => no(
            endpoint.tso_segments == Some(45),
            "Linux chooses the size of its bursts",
            "45, as Linux does",
        ),
        "rto_style" => linux(endpoint.rto_style == Some(RtoStyle::Linux), "\"linux\""),
        "rto_initial" => linux(endpoint.rto_initial_ns == Some(1_000_000_000), "\"1 s\""),
        "rto_max" => linux(endpoint.rto_max_ns == Some(120_000_000_000), "\"120 s\""),
        "growth" => linux(endpoint.growth == Some(Growth::Segments), "\"segments\""),
        "limited_transmit" => linux(
            endpoint.limited_transmit == Some(LimitedTransmit::Pipe),
            "\"linux\"",
        ),
        "reduction" => linux(
            endpoint.reduction == Some(Reduction::PrrLinux),
            "\"prr-linux\"",
        ),
        "forward_retransmit" => linux(endpoint.forward_retransmit == Some(false), "false"),
        "moderate_cwnd" => linux(endpoint.moderate_cwnd == Some(false), "false"),
        "loss_probe" => linux(
            endpoint.loss_probe != Some(plain::LossProbe::Rfc8985),
            "\"linux\" or \"off\"",
        ),
        "undo_eifel" => linux(endpoint.undo_eifel == Some(true), "true"),
        "undo_dsack" => linux(endpoint.undo_dsack == Some(true), "true"),
        "undo_rfc4015" => linux(endpoint.undo_rfc4015 == Some(false), "false"),
        "reenter_at_recover"
        | "duplicates_leave_flight"
        | "grow_when_unused"
        | "timer_at_first_partial"
        | "first_ack_at_once"
        | "growth_at_end"
        | "dialect"
        | "identification"
        | "timestamp_tick"
        | "random_timestamps"
        | "probe_part"
        | "probe_after"
        | "repeats"
        | "repeats_size"
        | "after_timeout"
        | "at_duplicates"
        | "ack_batch"
        | "ack_of_fill"
        | "answer_duplicates"
        | "paws_answer"
        | "sack_order"
        | "sack_blocks"
        | "echo"
        | "reneging"
        | "window_account"
        | "window_update"
        | "beyond_window" => Some((of_linux.to_owned(), "no such key")),
        _ => Some((
            format!("the lab does not know what `{key}` is on Linux"),
            "no such key",
        )),
    }
}
