//! The kernel's own counters: of a host's TCP, of a queueing discipline, of a connection.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;

use super::sys;
use crate::report::TcpState;

/// The counters of a namespace's TCP, by nstat's names (`TcpRetransSegs`, `TcpExtTCPTimeouts`).
pub(super) fn of_host(namespace: &str) -> io::Result<BTreeMap<String, u64>> {
    sys::enter(namespace)?;
    // The files are those of the reading thread's namespace.
    let read = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}"));
    let mut counters = parsed(&read("snmp")?);
    counters.extend(parsed(&read("netstat")?));
    Ok(counters)
}

/// Lines in pairs: `Tcp: NAME NAME`, `Tcp: VALUE VALUE`.
pub(super) fn parsed(text: &str) -> BTreeMap<String, u64> {
    let lines: Vec<&str> = text.lines().collect();
    let mut counters = BTreeMap::new();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((_, values))) =
            (pair[0].split_once(": "), pair[1].split_once(": "))
        else {
            continue;
        };
        for (name, value) in names.split(' ').zip(values.split(' ')) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("{group}{name}"), value);
            }
        }
    }
    counters
}

/// What has been counted since `before`.
pub(super) fn since(
    before: &BTreeMap<String, u64>,
    after: BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let earlier = |name: &str| before.get(name).copied().unwrap_or(0);
    let grown = after.into_iter().map(|(name, value)| {
        let grown = value.saturating_sub(earlier(&name));
        (name, grown)
    });
    grown.filter(|(_, value)| *value > 0).collect()
}

/// Packets that the discipline with the handle 10 dropped, and those it marked, in what `tc -s -j qdisc show` prints.
pub(super) fn drops_and_marks(json: &str) -> (u64, u64) {
    let disciplines: Vec<serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
    let of_stage = || disciplines.iter().filter(|of| of["handle"] == "10:");
    let sum = |name: &str| of_stage().filter_map(|of| of[name].as_u64()).sum::<u64>();
    // RED calls them "marked", all others "ecn_mark".
    (sum("drops"), sum("ecn_mark") + sum("marked"))
}

/// The state of a connection. Offsets are those of `struct tcp_info` in the kernel's `include/uapi/linux/tcp.h`.
pub(super) fn of_socket(socket: RawFd) -> io::Result<TcpState> {
    let info = sys::tcp_info(socket)?;
    let word = |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let [unacked, sacked, lost, again] = [24, 28, 32, 36].map(word);
    Ok(TcpState {
        state: info[1],
        pipe: unacked
            .saturating_sub(sacked)
            .saturating_sub(lost)
            .saturating_add(again),
        srtt_us: word(68),
        ssthresh: word(76),
        cwnd: word(80),
        reordering: word(88),
        retransmissions: word(100),
        acked: long(120),
        ..TcpState::default()
    })
}
