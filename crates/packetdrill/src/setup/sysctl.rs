//! System settings and their equivalents here. Linux: `Documentation/networking/ip-sysctl.rst`; FreeBSD: tcp(4).

use inorder_tcp::config::{
    EcnOptionUse, EcnUse, LimitedTransmit, LossProbe, MS, Reduction, SECOND,
};

use super::{Setup, nanos};
use crate::fast_open;

/// Settings without effect on what one endpoint sends in a script: memory limits beyond any script, keys and features
/// of other protocols, and caches that do not exist here.
const WITHOUT_EFFECT: &[&str] = &[
    "net.core.",
    "kern.",
    "net.inet.icmp.",
    "net.inet.ip.",
    "net.inet.sctp.",
    "net.inet.udp.",
    "net.inet6.",
    "net.inet.tcp.bb.",
    "net.inet.tcp.do_lrd",
    "net.inet.tcp.do_tcpdrain",
    "net.inet.tcp.fast_finwait2_recycle",
    "net.inet.tcp.finwait2_timeout",
    "net.inet.tcp.functions_inherit_listen_socket_stack",
    "net.inet.tcp.hostcache.",
    "net.inet.tcp.icmp_may_rst",
    "net.inet.tcp.isn_reseed_interval",
    "net.inet.tcp.keepcnt",
    "net.inet.tcp.keepintvl",
    "net.inet.tcp.log_in_vain",
    "net.inet.tcp.maxpersistidle",
    "net.inet.tcp.maxunacktime",
    "net.inet.tcp.minmss",
    "net.inet.tcp.per_cpu_timers",
    "net.inet.tcp.persmax",
    "net.inet.tcp.persmin",
    "net.inet.tcp.reass.",
    "net.inet.tcp.recvbuf_auto",
    "net.inet.tcp.recvbuf_max",
    "net.inet.tcp.sack.globalmaxholes",
    "net.inet.tcp.sack.maxholes",
    "net.inet.tcp.sack.tso",
    "net.inet.tcp.sendbuf_auto",
    "net.inet.tcp.sendbuf_inc",
    "net.inet.tcp.sendbuf_max",
    "net.inet.tcp.sendspace",
    "net.inet.tcp.soreceive_stream",
    "net.inet.tcp.ts_offset_per_conn",
    "net.inet.tcp.v6mssdflt",
    "net.inet.tcp.log_debug",
    "net.inet.tcp.msl",
    "net.inet.tcp.fastopen.",
    "net.inet.tcp.rfc1337",
    "net.inet.tcp.path_mtu_discovery",
    "net.inet.tcp.pmtud_blackhole_detection",
    "net.inet.tcp.functions_default",
    "net.inet.tcp.tolerate_missing_ts",
    "net.inet.tcp.syncookies",
    "net.inet.tcp.always_keepalive",
    "net.inet.tcp.keepinit",
    "net.inet.tcp.keepidle",
    "net.inet.tcp.insecure_vestigial_tw",
    "net.inet.tcp.nolocaltimewait",
    "net.inet.tcp.tso",
    "net.inet.tcp.udp_tunneling_port",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_fastopen_blackhole_timeout_sec",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_invalid_ratelimit",
    "net.ipv4.tcp_keepalive",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_snd_mss",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_orphan_retries",
    "net.ipv4.tcp_synack_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_workaround_signed_windows",
];

/// Settings of features that this stack lacks: accepted if they switch the feature off.
const OFF_ONLY: &[&str] = &[
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rfc1337",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_thin_linear_timeouts",
    "net.ipv4.tcp_fwmark_accept",
    "net.inet.tcp.blackhole",
    "net.inet.tcp.drop_synfin",
];

/// Sets `name` to `value`.
///
/// # Errors
/// The setting, if it requests a feature that this stack lacks, or is unknown.
pub(super) fn set(setup: &mut Setup, name: &str, value: &str) -> Result<(), String> {
    // `net/ipv4/tcp_sack` is another way to write `net.ipv4.tcp_sack`.
    let name = &name.replace('/', ".");
    let unsupported = || format!("sysctl {name}={value}");
    if name.starts_with("net.inet.") || name.starts_with("kern.") {
        setup.freebsd();
    }
    if name.ends_with("congestion_control") || name == "net.inet.tcp.cc.algorithm" {
        return setup.set_congestion(value);
    }
    if OFF_ONLY.contains(&name.as_str()) && value == "0" {
        return Ok(());
    }
    if numeric(setup, name, value).ok_or_else(unsupported)?
        || WITHOUT_EFFECT.iter().any(|known| name.starts_with(known))
    {
        return Ok(());
    }
    Err(unsupported())
}

/// True if the setting was applied; `None` if its value is invalid.
fn numeric(setup: &mut Setup, name: &str, value: &str) -> Option<bool> {
    let config = &mut setup.config;
    let last = || product(value.split_whitespace().last()?);
    let on = || Some(last()? != 0);
    match name {
        "net.ipv4.tcp_sack" | "net.inet.tcp.sack.enable" => config.options.sack = on()?,
        "net.ipv4.tcp_dsack" => config.options.dsack = on()?,
        "net.ipv4.tcp_timestamps" => config.options.timestamps = on()?,
        "net.ipv4.tcp_window_scaling" => {
            config.options.window_scale = on()?.then(|| config.options.window_scale.unwrap_or(7));
        }
        "net.inet.tcp.rfc1323" => {
            config.options.timestamps = matches!(last()?, 1 | 3);
            config.options.window_scale =
                matches!(last()?, 1 | 2).then(|| config.options.window_scale.unwrap_or(6));
        }
        // FreeBSD has other values above 2.
        "net.ipv4.tcp_ecn" | "net.inet.tcp.ecn.enable" => {
            config.ecn.usage = match last()? {
                0 => EcnUse::Off,
                1 => EcnUse::Request,
                2 => EcnUse::Accept,
                3 if name == "net.ipv4.tcp_ecn" => EcnUse::Accurate,
                4 if name == "net.ipv4.tcp_ecn" => EcnUse::RequestAcceptAccurate,
                5 if name == "net.ipv4.tcp_ecn" => EcnUse::AcceptAccurate,
                _ => return None,
            };
        }
        "net.ipv4.tcp_ecn_option" => {
            config.ecn.accurate.option = match last()? {
                0 => EcnOptionUse::Never,
                1 => EcnOptionUse::Demand,
                2 => EcnOptionUse::Always,
                3 => EcnOptionUse::Persist,
                _ => return None,
            };
        }
        "net.ipv4.tcp_ecn_option_beacon" => {
            config.ecn.accurate.beacon = u32::try_from(last()?).ok()?;
        }
        "net.ipv4.tcp_fastopen" => setup.fast_open.system = last()?,
        // A second key only helps with cookies of earlier days.
        "net.ipv4.tcp_fastopen_key" => {
            setup.fast_open.key = fast_open::key(value.split(',').next()?.trim())?;
        }
        "net.ipv4.tcp_ecn_fallback" => config.ecn.fallback = on()?,
        "net.ipv4.tcp_frto" => config.recovery.frto = on()?,
        "net.ipv4.tcp_early_retrans" => early_retransmit(setup, last()?)?,
        "net.ipv4.tcp_recovery" => recovery(setup, last()?)?,
        "net.ipv4.tcp_reordering" => setup.reordering = u32::try_from(last()?).ok(),
        "net.ipv4.tcp_max_reordering" => setup.max_reordering = u32::try_from(last()?).ok(),
        "net.ipv4.tcp_slow_start_after_idle" => config.cwnd.restart_after_idle = on()?,
        "net.ipv4.tcp_retries2" => config.rto.retries = u32::try_from(last()?).ok()?,
        "net.ipv4.tcp_syn_retries" => config.rto.syn_retries = u32::try_from(last()?).ok()?,
        "net.ipv4.tcp_syn_linear_timeouts" => {
            config.rto.syn_linear = u32::try_from(last()?).ok()?;
        }
        "net.ipv4.tcp_rto_min_us" => config.rto.min = nanos(last()?, 1_000),
        "net.inet.tcp.rexmit_min" => config.rto.min = nanos(last()?, MS),
        "net.inet.tcp.rexmit_initial" => config.rto.initial = nanos(last()?, MS),
        "net.ipv4.tcp_rto_max_ms" => config.rto.max = nanos(last()?.clamp(1_000, 120_000), MS),
        "net.ipv4.tcp_comp_sack_nr" => sack_compression(setup, |c, v| c.max = v as u32, last()?),
        "net.ipv4.tcp_comp_sack_slack_ns" => {
            sack_compression(setup, |c, v| c.slack = nanos(v, 1), last()?);
        }
        "net.ipv4.tcp_comp_sack_delay_ns" => {
            sack_compression(setup, |c, v| c.delay = nanos(v, 1), last()?);
        }
        "net.ipv4.tcp_challenge_ack_limit" => {}
        "net.ipv4.tcp_fack" => return Some(last()? == 0 || setup.loss != "linux"),
        "net.ipv4.tcp_min_tso_segs" => {
            setup.least_burst = u32::try_from(last()?).ok()?.max(1);
            let max_rate = setup.config.send.pacing.map(|pacing| pacing.max_rate);
            setup.set_pacing(max_rate);
        }
        // The pacing rates of the endpoint.
        "net.ipv4.tcp_pacing_ss_ratio" => return (last()? == 200).then_some(true),
        "net.ipv4.tcp_pacing_ca_ratio" => return (last()? == 120).then_some(true),
        // Time to wait for a larger burst: the endpoint under test does not wait.
        "net.ipv4.tcp_tso_win_divisor" => {}
        "net.ipv4.tcp_rmem" => {
            let largest = last()?;
            let default = product(value.split_whitespace().nth(1)?)?;
            setup.set_receive_memory(default, largest);
        }
        "net.ipv4.tcp_adv_win_scale" | "net.ipv4.tcp_app_win" => return Some(false),
        "net.inet.tcp.delayed_ack" => {
            let on = on()?;
            setup.set_delayed_ack(on);
        }
        "net.inet.tcp.delacktime" => {
            let wait = nanos(last()?, MS);
            setup.set_delay(wait);
        }
        "net.inet.tcp.initcwnd_segments" => {
            config.cwnd.initial = u32::try_from(last()?).ok()?.max(1);
        }
        "kern.ipc.maxsockbuf" => {
            let bytes = last()?;
            setup.set_largest_buffer(bytes);
        }
        "net.inet.tcp.recvspace" => {
            let bytes = last()?;
            setup.set_receive_buffer(bytes);
        }
        "net.inet.tcp.rfc3042" => {
            config.recovery.limited_transmit = match last()? {
                0 => LimitedTransmit::Off,
                _ => LimitedTransmit::Rfc3042,
            };
        }
        // Proportional rate reduction; its bound is another setting.
        "net.inet.tcp.do_prr" => {
            config.cwnd.reduction = match last()? {
                0 => Reduction::Immediate,
                _ => Reduction::PrrSlowStart,
            };
        }
        "net.inet.tcp.do_prr_conservative" => {
            config.cwnd.reduction = match last()? {
                0 => Reduction::PrrSlowStart,
                _ => Reduction::PrrConservative,
            };
        }
        "net.inet.tcp.rexmit_max" => config.rto.max = nanos(last()?, MS),
        "net.inet.tcp.syn_retries" => config.rto.syn_retries = u32::try_from(last()?).ok()?,
        "net.inet.tcp.mssdflt" => return Some(true),
        _ => return Some(false),
    }
    Some(true)
}

/// A number, or a product in shell notation: `$((32*1024*1024))`.
fn product(text: &str) -> Option<u64> {
    let inner = text
        .strip_prefix("$((")
        .and_then(|rest| rest.strip_suffix("))"))
        .unwrap_or(text);
    inner
        .split('*')
        .try_fold(1u64, |all, factor| all.checked_mul(number(factor.trim())?))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Linux `tcp_select_initial_window`: the smallest shift with which 16 bits can represent the largest buffer.
pub(super) fn scale_for(bytes: u64) -> u8 {
    (0..14)
        .find(|&shift| bytes >> shift <= 65_535)
        .unwrap_or(14)
}

/// 0: neither; 3 and 4: tail loss probe. 1 and 2 select early retransmit, which RACK replaced in Linux 4.13.
fn early_retransmit(setup: &mut Setup, value: u64) -> Option<()> {
    setup.config.recovery.loss_probe = match value {
        0 => LossProbe::Off,
        3 | 4 => LossProbe::Linux,
        _ => return None,
    };
    Some(())
}

/// 0: counting duplicate ACKs, 1: RACK. The other bits have no equivalent here.
fn recovery(setup: &mut Setup, value: u64) -> Option<()> {
    let name = match value {
        0 => "linux-norack",
        1 => "linux",
        _ => return None,
    };
    name.clone_into(&mut setup.loss);
    Some(())
}

fn sack_compression(
    setup: &mut Setup,
    change: impl FnOnce(&mut inorder_tcp::config::SackCompression, u64),
    value: u64,
) {
    let mut compression =
        setup
            .config
            .acks
            .sack_compression
            .unwrap_or(inorder_tcp::config::SackCompression {
                delay: MS,
                slack: MS / 10,
                max: 44,
            });
    change(&mut compression, value);
    let on = compression.delay > 0 && compression.max > 0;
    setup.config.acks.sack_compression = on.then_some(compression);
}

/// The settings of `defaults.sh` in the public test suites that have an effect here.
pub(super) fn defaults(setup: &mut Setup) {
    let config = &mut setup.config;
    config.options.sack = true;
    config.options.dsack = true;
    config.options.timestamps = true;
    config.ecn.usage = EcnUse::Off;
    config.recovery.frto = true;
    config.rto.syn_retries = 5;
    config.rto.initial = SECOND;
    config.recovery.loss_probe = LossProbe::Linux;
    config.cwnd.restart_after_idle = false;
    config.options.window_scale = Some(0);
    setup.set_receive_memory(540_000, 15 << 20);
    setup.reordering = Some(3);
    setup.fast_open.system = fast_open::Settings::CLIENT | fast_open::Settings::SERVER;
    "linux".clone_into(&mut setup.loss);
    // A name of the registry, so this cannot fail.
    let _ = setup.set_congestion("cubic");
}
