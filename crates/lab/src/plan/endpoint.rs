//! Endpoints: the settings of a host and of its sockets that stand for the keys of `[flow.sender]`.

use inorder_scenario::config::{self as plain, Application, DestinationMetrics, Ecn, Gaps, Pacing};
use serde::{Deserialize, Serialize};

use super::address::address;
use super::refusal::Refusal;
use super::{Group, Setting, Work};

/// Congestion controls of the simulator that a Linux of today has under this or another name.
const CONGESTION: &[(&str, &str)] = &[
    ("reno", "reno"),
    ("cubic", "cubic"),
    ("bic", "bic"),
    ("highspeed", "highspeed"),
    ("westwood", "westwood"),
    ("yeah", "yeah"),
    ("bbr", "bbr"),
    ("dctcp", "dctcp"),
];

/// The congestion control of the module `tcp_ancr` (`kernel/`): Reno with aNCR's threshold.
pub(super) const ANCR: &str = "ancr";
/// The loss detection of the simulator that this module stands for.
const ANCR_DETECTION: &str = "ancr-threshold";

/// Largest buffers, bytes, of endpoints whose scenario sets none: they never limit.
const LARGEST_BUFFER: u64 = 64 << 20;
/// Rate that never limits, bytes per second; asking for one makes TCP pace without the discipline `fq`.
const ANY_RATE: u64 = 100_000_000_000;

/// Options of a socket.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Socket {
    /// Name of the congestion control.
    pub congestion: String,
    /// Maximum segment size without options, if it is not that of the device.
    pub mss: Option<u32>,
    /// Size of the receive buffer, bytes, if it does not grow by itself.
    pub receive_buffer: Option<u64>,
    /// Sends small segments at once.
    pub no_delay: bool,
    /// Largest pacing rate, bytes per second, if data is paced.
    pub pacing: Option<u64>,
}

impl Socket {
    /// The options in words.
    pub fn words(&self) -> String {
        let mut words = vec![format!("TCP_CONGESTION={}", self.congestion)];
        words.extend(self.mss.map(|mss| format!("TCP_MAXSEG={mss}")));
        words.extend(
            self.receive_buffer
                .map(|bytes| format!("SO_RCVBUFFORCE={bytes}")),
        );
        words.extend(self.no_delay.then(|| "TCP_NODELAY=1".to_owned()));
        words.extend(self.pacing.map(|rate| format!("SO_MAX_PACING_RATE={rate}")));
        words.join(" ")
    }
}

/// The group of a `[[flow]]` whose data goes between hosts of these two sides; adds the settings of its hosts.
pub(super) fn group(
    number: usize,
    flow: &plain::Flow,
    [from, to]: [&str; 2],
    settings: &mut Vec<Setting>,
) -> Result<Group, Refusal> {
    let hosts = [format!("{from}{number}"), format!("{to}{number}")];
    for (host, endpoint, end) in [
        (&hosts[0], &flow.sender, "sender"),
        (&hosts[1], &flow.receiver, "receiver"),
    ] {
        let at = format!("flow.{number}.{end}");
        let of_host = sysctls(endpoint, &at)?.into_iter();
        settings.extend(of_host.map(|(key, value)| Setting {
            namespace: host.clone(),
            key: format!("net.ipv4.{key}"),
            value,
        }));
    }
    let [sender, receiver] = hosts;
    settings.extend(kept(flow.destination_metrics).map(|(key, value)| Setting {
        namespace: sender.clone(),
        key: format!("net.ipv4.{key}"),
        value: value.to_owned(),
    }));
    Ok(Group {
        from: address(from, number),
        to: address(to, number),
        sending: socket(&flow.sender, &format!("flow.{number}.sender"))?,
        receiving: socket(&flow.receiver, &format!("flow.{number}.receiver"))?,
        sender,
        receiver,
        work: work(&flow.application),
        stop_ns: flow.stop_ns,
    })
}

/// Settings of a sending host that keeps something of its connections; set after those of all hosts.
fn kept(metrics: DestinationMetrics) -> impl Iterator<Item = (&'static str, &'static str)> {
    let keeps = ("tcp_no_metrics_save", "0");
    let keeps_ssthresh = ("tcp_no_ssthresh_metrics_save", "0");
    let settings = match metrics {
        DestinationMetrics::Off => [None, None],
        DestinationMetrics::Linux => [Some(keeps), None],
        DestinationMetrics::LinuxSsthresh => [Some(keeps), Some(keeps_ssthresh)],
    };
    settings.into_iter().flatten()
}

fn work(application: &Application) -> Work {
    match application {
        Application::Bulk => Work::Bulk,
        Application::Paced(paced) => {
            let write_bits = u128::from(paced.write_bytes) * 8;
            let gap = write_bits * 1_000_000_000 / u128::from(paced.bits_per_s.max(1));
            Work::Paced {
                write_bytes: paced.write_bytes,
                gap_ns: i64::try_from(gap).unwrap_or(i64::MAX).max(1),
            }
        }
        Application::Interactive(talk) => Work::Dialogue {
            request_bytes: talk.request_bytes,
            response_bytes: talk.response_bytes,
            think_ns: talk.think_ns,
            exponential: talk.think_times == Gaps::Exponential,
        },
    }
}

fn socket(endpoint: &plain::Endpoint, at: &str) -> Result<Socket, Refusal> {
    let wanted = endpoint.congestion.as_deref().unwrap_or("cubic");
    let Some((_, name)) = CONGESTION.iter().find(|(ours, _)| *ours == wanted) else {
        let listed: Vec<&str> = CONGESTION.iter().map(|(ours, _)| *ours).collect();
        return Err(Refusal::new(
            format!("{at}.congestion"),
            format!("Linux has no congestion control like \"{wanted}\""),
            format!("one of {}", listed.join(", ")),
        ));
    };
    let is_ancr = endpoint.loss_detection.as_deref() == Some(ANCR_DETECTION);
    if is_ancr && *name != "reno" {
        return Err(Refusal::new(
            format!("{at}.congestion"),
            "the module for aNCR has the window of Reno",
            "\"reno\"",
        ));
    }
    let fixed = endpoint.receive_autotuning.is_none();
    Ok(Socket {
        congestion: if is_ancr { ANCR } else { name }.to_owned(),
        mss: endpoint.mss.filter(|mss| *mss != 1460),
        // Linux doubles the value for its own accounting, half of which is window.
        receive_buffer: fixed.then(|| endpoint.receive_buffer.unwrap_or(LARGEST_BUFFER / 2)),
        no_delay: endpoint.nagle == Some(plain::Nagle::Off),
        pacing: match endpoint.pacing {
            None | Some(Pacing::Off) => None,
            Some(Pacing::On) => Some(ANY_RATE),
            Some(Pacing::UpTo(bits_per_s)) => Some((bits_per_s / 8).max(1)),
        },
    })
}

/// The settings of a host under `net.ipv4`.
fn sysctls(endpoint: &plain::Endpoint, at: &str) -> Result<Vec<(&'static str, String)>, Refusal> {
    let flag = |on: bool| u8::from(on).to_string();
    let mut out = vec![
        ("tcp_no_metrics_save", flag(true)),
        ("tcp_rmem", receive_memory(endpoint)),
        // Linux starts with this much and lets the buffer grow with the window.
        (
            "tcp_wmem",
            format!(
                "4096 65536 {}",
                endpoint
                    .send_buffer
                    .unwrap_or(2 * LARGEST_BUFFER)
                    .clamp(65_536, 1 << 30)
            ),
        ),
    ];
    let mut add = |key, value: Option<String>| out.extend(value.map(|value| (key, value)));
    add("tcp_sack", endpoint.sack.map(flag));
    add("tcp_dsack", endpoint.dsack.map(flag));
    add("tcp_timestamps", endpoint.timestamps.map(flag));
    add("tcp_window_scaling", endpoint.window_scaling.map(flag));
    add(
        "tcp_slow_start_after_idle",
        endpoint.restart_after_idle.map(flag),
    );
    // 2 is the default: F-RTO wherever SACK allows it.
    add(
        "tcp_frto",
        endpoint
            .frto
            .map(|on| if on { "2" } else { "0" }.to_owned()),
    );
    add(
        "tcp_comp_sack_nr",
        (endpoint.sack_compression == Some(false)).then(|| "0".to_owned()),
    );
    add(
        "tcp_early_retrans",
        (endpoint.loss_probe == Some(plain::LossProbe::Off)).then(|| "0".to_owned()),
    );
    let ecn = |word| match word {
        Ecn::Off => "0",
        Ecn::Accept => "2",
        Ecn::Request => "1",
        Ecn::Accurate => "3",
        Ecn::RequestAcceptAccurate => "4",
        Ecn::AcceptAccurate => "5",
    };
    add("tcp_ecn", endpoint.ecn.map(|word| ecn(word).to_owned()));
    out.extend(detection(endpoint, at)?);
    Ok(out)
}

fn receive_memory(endpoint: &plain::Endpoint) -> String {
    let most = endpoint
        .receive_buffer
        .unwrap_or(LARGEST_BUFFER)
        .saturating_mul(2)
        .min(1 << 30);
    let first = endpoint
        .receive_autotuning
        .unwrap_or(65_536)
        .saturating_mul(2)
        .min(most);
    format!("4096 {first} {most}")
}

/// Linux's settings for a loss detection of the simulator.
fn detection(endpoint: &plain::Endpoint, at: &str) -> Result<Vec<(&'static str, String)>, Refusal> {
    match endpoint.loss_detection.as_deref() {
        None | Some("linux") => Ok(Vec::new()),
        Some("linux-norack" | ANCR_DETECTION) => Ok(vec![("tcp_recovery", "0".to_owned())]),
        Some("static") => {
            let threshold = endpoint.dupthresh.unwrap_or(3);
            Ok(vec![
                ("tcp_reordering", threshold.to_string()),
                ("tcp_max_reordering", threshold.to_string()),
                ("tcp_recovery", "0".to_owned()),
            ])
        }
        Some(other) => Err(Refusal::new(
            format!("{at}.loss_detection"),
            format!("Linux has no loss detection like \"{other}\""),
            "one of linux, linux-norack, static, ancr-threshold",
        )),
    }
}

/// Words that the routes of a host have for an endpoint.
pub(super) fn route_words(endpoint: &plain::Endpoint) -> String {
    let mut words = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push_str(&format!(" {name} {value}"));
        }
    };
    add("initcwnd", endpoint.initial_window.map(|n| n.to_string()));
    add("ssthresh", endpoint.initial_ssthresh.map(|n| n.to_string()));
    add("cwnd lock", endpoint.cwnd_clamp.map(|n| n.to_string()));
    add(
        "rto_min",
        endpoint
            .rto_min_ns
            .map(|ns| format!("{}ms", (ns / 1_000_000).max(1))),
    );
    let at_once = endpoint.delayed_ack == Some(plain::DelayedAck::Off);
    add("quickack", at_once.then(|| "1".to_owned()));
    words
}
