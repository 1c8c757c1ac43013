//! The words for what was lost, or sent again.

use inorder_detect::Icmp;
use inorder_report::number::{count, plural};

use super::super::super::{of_packets, times, was};

pub(super) fn lost(
    (packets, at_most, of): (u64, Option<u64>, u64),
    needed: u64,
    queue: [u64; 3],
    icmp: &Icmp,
    recoveries: (u64, u64),
) -> String {
    let explained = by_icmp(icmp);
    if let [(n, why)] = &explained[..]
        && *n == packets
    {
        let all = of_packets(*n, of);
        return format!("{all} {} {why}{}", was(*n), recovered(recoveries));
    }
    let explained: Vec<String> = explained
        .iter()
        .map(|(n, why)| format!(", {} of them {why}", count(*n)))
        .collect();
    let lost = match packets {
        // Which packet was lost is undecided, and perhaps which retransmission was needed.
        0 if needed == 0 => "packets were lost, and which of them is unknown".to_owned(),
        0 => format!(
            "packets were lost ({} needed)",
            plural(needed, "retransmission")
        ),
        n => match at_most {
            Some(most) if most > n => format!(
                "{} {} lost, and perhaps {} more",
                of_packets(n, of),
                was(n),
                count(most - n)
            ),
            None if n < of => format!("at least {} {} lost", of_packets(n, of), was(n)),
            _ => format!("{} {} lost", of_packets(n, of), was(n)),
        },
    };
    let place = place(queue);
    format!(
        "{lost}{place}{}{}",
        explained.concat(),
        recovered(recoveries)
    )
}

/// What ICMP says of lost packets, and of how many.
fn by_icmp(icmp: &Icmp) -> Vec<(u64, String)> {
    let mtu = icmp
        .mtu
        .map_or_else(String::new, |mtu| format!(": {} bytes", count(mtu.into())));
    let all = [
        (
            icmp.too_large,
            format!("too large for the path (ICMP says so{mtu})"),
        ),
        (
            icmp.unreachable,
            "undeliverable (ICMP says that the other host cannot be reached)".to_owned(),
        ),
        (
            icmp.time_exceeded,
            "caught in a routing loop (ICMP says so: time exceeded)".to_owned(),
        ),
    ];
    all.into_iter().filter(|(n, _)| *n > 0).collect()
}

/// Where packets were lost, as far as the round trip shows it; nothing where it does not.
fn place([queue, random, unknown]: [u64; 3]) -> String {
    match (queue, random, unknown) {
        (0, 0, _) => String::new(),
        (_, 0, 0) => " at a full queue (the round-trip time was near its longest)".to_owned(),
        (0, _, 0) => " although no queue was full (the round-trip time was short)".to_owned(),
        (q, r, u) => {
            let parts = [
                (q, "while a queue was full"),
                (r, "while no queue was full"),
            ];
            let parts = parts.iter().filter(|(n, _)| *n > 0);
            let parts: Vec<String> = parts
                .map(|(n, when)| format!("{} came {when}", count(*n)))
                .collect();
            format!(
                " (of {}, {})",
                plural(q + r + u, "recovery phase"),
                parts.join(", ")
            )
        }
    }
}

/// How often the sender recovered from losses.
fn recovered((all, timeouts): (u64, u64)) -> String {
    let after = match timeouts {
        0 => String::new(),
        n if n == all && n > 1 => ", each time after a time-out".to_owned(),
        n if n == all => " after a time-out".to_owned(),
        n => format!(", {} after a time-out", times(n)),
    };
    match all {
        0 => String::new(),
        n => format!("; the sender went into recovery {}{after}", times(n)),
    }
}

pub(super) fn probes(sent: u64, undecided: bool) -> String {
    let said = match (sent, undecided) {
        (1, false) => "1 tail loss probe repeated a packet that had arrived".to_owned(),
        (1, true) => {
            "1 tail loss probe was sent, and whether its packet had arrived is unknown".to_owned()
        }
        (n, false) => format!(
            "{} tail loss probes repeated packets that had arrived",
            count(n)
        ),
        (n, true) => format!(
            "{} tail loss probes were sent, and whether all of their packets had arrived is unknown",
            count(n)
        ),
    };
    format!("{said}; this costs only the bandwidth of the duplicates")
}

pub(super) fn unanswered(packets: u64, repeated: u64, (timer, beside): (bool, bool)) -> String {
    let never = match packets {
        0 | 1 => "1 packet was never acknowledged, although the sender repeated it".to_owned(),
        n => format!(
            "{} were never acknowledged, although the sender repeated them",
            plural(n, "packet")
        ),
    };
    format!(
        "{never} {}{}: {}",
        times(repeated),
        if timer { " by its timer" } else { "" },
        match beside {
            true => "the receiver, beside which the capture was made, did not answer",
            false => "the path or the receiver was dead for this data",
        }
    )
}

pub(super) fn unexplained(packets: u64, recoveries: u64, timeouts: u64, in_vain: bool) -> String {
    let in_vain = match (in_vain, packets) {
        (false, _) => "",
        (true, 1) => " although it had arrived,",
        (true, _) => " although they had arrived,",
    };
    let after = match timeouts {
        0 => String::new(),
        1 if recoveries == 1 => " after a time-out".to_owned(),
        n => format!(", {} after a time-out", times(n)),
    };
    format!(
        "it sent {} again{in_vain} in {}{after}, and the capture does not show why",
        plural(packets, "packet"),
        plural(recoveries, "recovery phase"),
    )
}
