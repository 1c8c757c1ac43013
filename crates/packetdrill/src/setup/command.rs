//! Shell commands between backquotes. Nothing is executed: commands that configure the endpoint are interpreted,
//! commands without effect on a single endpoint are ignored, all others are unsupported.

use super::{Setup, inspect, nanos, sysctl};

/// Commands that prepare a machine for packetdrill and have no effect here.
const WITHOUT_EFFECT: [&str; 7] = [
    // Offloads of the device: segments are counted one by one here, and joined for comparison.
    "ethtool",
    "kldload",
    "kldunload",
    "modprobe",
    "sync",
    "true",
    ":",
];

/// Forms without effect of commands whose other forms have one.
const KNOWN_FORMS: [&str; 2] = [
    // Resetting counters for a later check; the check itself is not supported.
    "nstat -n",
    // The HyStart algorithms that are on by default.
    "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect",
];

/// Applies the lines of a command; returns one sentence for each unsupported line.
pub(crate) fn apply_command(setup: &mut Setup, text: &str) -> Vec<String> {
    // A backslash at the end of a line joins it with the next one.
    let joined = text.replace("\\\n", " ");
    joined
        .split(['\n', ';'])
        .flat_map(|line| line.split("&&"))
        .map(|line| line.split(" #").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| apply_line(setup, line).err())
        .collect()
}

fn apply_line(setup: &mut Setup, line: &str) -> Result<(), String> {
    let words = split_words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((&command, arguments)) = words.split_first() else {
        return Ok(());
    };
    let name = command.rsplit('/').next().unwrap_or(command);
    match name {
        "sysctl" => sysctl_command(setup, arguments),
        "set_sysctls.py" => arguments
            .iter()
            .take_while(|argument| !argument.starts_with('#'))
            .try_for_each(|argument| proc_setting(setup, argument)),
        "defaults.sh" => {
            sysctl::defaults(setup);
            Ok(())
        }
        "ip" => ip(setup, arguments),
        "tc" => queue(setup, line, arguments),
        // A check of states, which the runner makes.
        "sockstat" if inspect::states(line).is_some() => Ok(()),
        "sh" | "bash" if arguments.len() == 1 => apply_line(setup, arguments[0]),
        _ if WITHOUT_EFFECT.contains(&name) || KNOWN_FORMS.contains(&line) => Ok(()),
        // The script that restores settings at the end, written by `set_sysctls.py`.
        _ if name.starts_with("sysctl_restore_") => Ok(()),
        _ => Err(format!("command `{line}`")),
    }
}

/// Accepts queueing disciplines that neither drop nor delay the packets of one connection, `fq`, which paces them,
/// and one without room, which makes the device refuse all packets. Others are unsupported. What a stack retransmits
/// when there is room again depends on what the device had refused, so a full device stays full.
fn queue(setup: &mut Setup, line: &str, arguments: &[&str]) -> Result<(), String> {
    let unsupported = || Err(format!("command `{line}`"));
    let ["qdisc", "add" | "replace", "dev", _, "root", kind @ ..] = arguments else {
        return unsupported();
    };
    match kind {
        ["pfifo" | "bfifo", "limit", "0"] => setup.device_full = true,
        ["fq"] if !setup.device_full => setup.set_pacing(Some(u64::MAX)),
        ["pfifo" | "pfifo_fast" | "noqueue"] if !setup.device_full => setup.set_pacing(None),
        _ => return unsupported(),
    }
    Ok(())
}

/// Splits words as a shell does: at spaces, except within quotes.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// `sysctl -q net.ipv4.tcp_sack=1 ...`; redirections at the end are removed.
fn sysctl_command(setup: &mut Setup, arguments: &[&str]) -> Result<(), String> {
    arguments
        .iter()
        .take_while(|word| !word.starts_with('>') && !word.starts_with("2>"))
        .filter(|word| !word.starts_with('-'))
        .try_for_each(|word| {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("sysctl {word} without a value"))?;
            sysctl::set(setup, name, value)
        })
}

/// `/proc/sys/net/ipv4/tcp_sack=1`, as the kernel's selftests write it.
fn proc_setting(setup: &mut Setup, argument: &str) -> Result<(), String> {
    let (path, value) = argument
        .split_once('=')
        .ok_or_else(|| format!("setting {argument} without a value"))?;
    sysctl::set(setup, path.trim_start_matches("/proc/sys/"), value)
}

/// `ip tcp_metrics flush all`, `ip route change ... initcwnd N`: only the route attributes that TCP reads.
fn ip(setup: &mut Setup, arguments: &[&str]) -> Result<(), String> {
    match arguments.first() {
        Some(&"link") => {
            if let Some(pair) = arguments.windows(2).find(|pair| pair[0] == "mtu") {
                let mtu = pair[1]
                    .parse()
                    .map_err(|_| format!("ip link: mtu {}", pair[1]))?;
                setup.set_mtu(mtu);
            }
            return Ok(());
        }
        Some(&("tcp_metrics" | "addr")) => return Ok(()),
        Some(&"route") => {}
        _ => return Err(format!("command `ip {}`", arguments.join(" "))),
    }
    for pair in arguments.windows(2) {
        let number = || {
            pair[1]
                .parse::<u32>()
                .map_err(|_| format!("ip route: {} {}", pair[0], pair[1]))
        };
        match pair[0] {
            "initcwnd" => setup.config.cwnd.initial = number()?.max(1),
            "ssthresh" => setup.config.cwnd.ssthresh = number()?.max(1),
            "cwnd" => setup.config.cwnd.clamp = number()?.max(1),
            "rto_min" => {
                let ms = pair[1].trim_end_matches("ms").parse::<u64>();
                let ms = ms.map_err(|_| format!("ip route: rto_min {}", pair[1]))?;
                setup.config.rto.min = nanos(ms, 1_000_000);
            }
            "advmss" => setup.config.mss = number()?.max(1),
            "window" | "rtt" | "initrwnd" | "quickack" | "congctl" | "features" => {
                return Err(format!("ip route ... {}", pair[0]));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_tcp::profiles;

    fn setup() -> Setup {
        Setup::new(profiles::find("linux-6").expect("a profile"))
    }

    #[test]
    fn settings_reach_the_configuration() {
        let mut setup = setup();
        let unknown = apply_command(
            &mut setup,
            "../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0 -w net.ipv4.tcp_congestion_control=reno\n\
             ./set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 540000 15728640\" > /dev/null 2>&1\n\
             ip route change 10.0.0.0/8 dev tun0 initcwnd 4",
        );
        assert_eq!(unknown, [""; 0]);
        assert!(!setup.config.options.sack && !setup.config.options.timestamps);
        assert_eq!(setup.congestion, "reno");
        assert_eq!(setup.config.cwnd.initial, 4);
        assert_eq!(setup.config.options.window_scale, Some(8));
    }

    #[test]
    fn unsupported_commands_are_reported() {
        let mut setup = setup();
        let unknown = apply_command(
            &mut setup,
            "sysctl -q net.ipv4.tcp_colour=3\nrm -rf /tmp/x\nip rule add 1\nsysctl -q net.ipv4.tcp_ecn=6\n\
             tc qdisc replace dev tun0 root pfifo limit 5",
        );
        assert_eq!(
            unknown,
            [
                "sysctl net.ipv4.tcp_colour=3",
                "command `rm -rf /tmp/x`",
                "command `ip rule add 1`",
                "sysctl net.ipv4.tcp_ecn=6",
                "command `tc qdisc replace dev tun0 root pfifo limit 5`",
            ]
        );
    }

    #[test]
    fn a_full_device_stays_full() {
        let mut setup = setup();
        let full = "tc qdisc replace dev tun0 root pfifo limit 0";
        let open = "tc qdisc replace dev tun0 root pfifo";
        assert_eq!(apply_command(&mut setup, open), [""; 0]);
        assert_eq!(apply_command(&mut setup, full), [""; 0]);
        assert!(setup.device_full);
        assert_eq!(
            apply_command(&mut setup, open),
            [format!("command `{open}`")]
        );
    }
}
