//! The stages of a path as queueing disciplines, one after another.

use inorder_scenario::config::{self as plain, Charge, Discipline, Framing, Stage, StageKind};

use super::hop::{Hop, Lanes, Rate, Shaper};
use super::netem::Netem;
use super::refusal::Refusal;
use super::{aqm, card};

/// Most packets in a queue without a limit.
const NO_LIMIT: u64 = 1_000_000;
/// Bytes that the kernel counts in addition to an IP packet: the Ethernet header.
const COUNTED: i64 = 14;

/// The disciplines of a path, for a run of this length.
pub(super) fn hops(path: &str, stages: &[Stage], duration_ns: i64) -> Result<Vec<Hop>, Refusal> {
    let mut hops: Vec<Hop> = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        for hop in of_stage(&format!("{path}.{number}"), &stage.kind, duration_ns)? {
            push(&mut hops, hop);
        }
    }
    Lanes::check(path, &hops)?;
    Ok(hops)
}

/// Adds a discipline, as part of the last one if one netem does both.
fn push(hops: &mut Vec<Hop>, hop: Hop) {
    let hop = match (hops.last_mut(), hop) {
        (Some(Hop::Netem(last)), Hop::Netem(next)) => {
            last.join(*next).map(|next| Hop::Netem(Box::new(next)))
        }
        (_, hop) => Some(hop),
    };
    hops.extend(hop);
}

fn of_stage(key: &str, kind: &StageKind, duration_ns: i64) -> Result<Vec<Hop>, Refusal> {
    let netem = |netem: Netem| Ok(vec![Hop::Netem(Box::new(netem))]);
    let cannot = |name: &str| {
        let what = format!("netem and the shapers of Linux have nothing like \"{name}\"");
        let expected = "link, delay, loss, duplicate, corrupt, reorder, late, batch, spray, token-bucket or netem";
        Err(Refusal::new(format!("{key}.kind"), what, expected))
    };
    match kind {
        StageKind::Link(link) => of_line(key, &link.line, &link.discipline, duration_ns),
        StageKind::Delay(delay) => netem(Netem::jitter(delay)),
        StageKind::Loss(loss) => netem(Netem::loss(loss)),
        StageKind::Duplicate(duplicate) if duplicate.copy_delay_ns != 0 => {
            let what = "netem sends the copy at once";
            Err(Refusal::new(format!("{key}.copy_delay"), what, "\"0 s\""))
        }
        StageKind::Duplicate(duplicate) => netem(Netem::duplicate(duplicate)),
        StageKind::Corrupt(corrupt) => netem(Netem::corrupt(corrupt)),
        StageKind::Reorder(reorder) => netem(Netem::reorder(reorder)),
        StageKind::Late(late) => netem(Netem::late(late, key)?),
        StageKind::Netem(whole) => netem(Netem::whole(whole)),
        StageKind::TokenBucket(bucket) => of_bucket(key, bucket),
        // A hop of its own: what its queue drops is lost.
        StageKind::Device(device) => of_line(key, &device.line, &Discipline::DropTail, duration_ns),
        StageKind::Batch(batch) => Ok(vec![Hop::Card(card::Settings::of_batch(batch, key)?)]),
        StageKind::Outage(_) => cannot("outage"),
        StageKind::Periodic(_) => cannot("periodic"),
        StageKind::Processor(_) => cannot("processor"),
        StageKind::Spray(spray) => Ok(vec![Hop::Lanes(of_spray(key, spray, duration_ns)?)]),
        StageKind::Radio(_) => cannot("radio"),
        StageKind::SharedLink(_) => cannot("shared-link"),
    }
}

/// Each lane is a line, and behind it a netem.
fn of_spray(key: &str, spray: &plain::Spray, duration_ns: i64) -> Result<Lanes, Refusal> {
    let of_lane = |(number, lane): (usize, &plain::Lane)| {
        let key = format!("{key}.lane.{number}");
        let mut hops = of_line(&key, &lane.link, &Discipline::DropTail, duration_ns)?;
        hops.truncate(1);
        hops.extend(
            Netem::lane(lane.link.delay_ns, lane.jitter_ns, lane.loss)
                .map(|netem| Hop::Netem(Box::new(netem))),
        );
        Ok(hops)
    };
    let lanes = spray.lanes.iter().enumerate().map(of_lane);
    Lanes::new(key, spray, lanes.collect::<Result<_, Refusal>>()?)
}

fn of_line(
    key: &str,
    line: &plain::Line,
    discipline: &Discipline,
    duration_ns: i64,
) -> Result<Vec<Hop>, Refusal> {
    if line.trace.is_some() {
        let what = "HTB and TBF cannot send at given times";
        return Err(Refusal::new(
            format!("{key}.trace"),
            what,
            "a rate, or rate_changes",
        ));
    }
    let changes = rate_changes(key, line, duration_ns)?;
    let overhead = framing_bytes(line.framing) - COUNTED;
    let shaper = match counted_queue(line, discipline).filter(|_| changes.is_empty()) {
        Some(packets) => Shaper::Netem(timed(line.bits_per_s, overhead, packets)),
        None => Shaper::Htb(line.bits_per_s, 1600),
    };
    let rate = Rate {
        shaper,
        overhead,
        queue: queue_words(key, line.queue(), discipline, line.bits_per_s)?,
        changes,
    };
    let mut hops = vec![Hop::Rate(rate)];
    if line.delay_ns > 0 {
        hops.push(Hop::Netem(Box::new(Netem::delay(line.delay_ns))));
    }
    Ok(hops)
}

/// The packets that may wait, of a queue that counts packets and drops at its end.
fn counted_queue(line: &plain::Line, discipline: &Discipline) -> Option<u64> {
    use inorder_scenario::config::Queue;
    match (discipline, line.queue()) {
        (Discipline::DropTail, Queue::Unlimited) => Some(NO_LIMIT),
        (Discipline::DropTail, Queue::Packets(packets)) => Some(packets),
        _ => None,
    }
}

/// Netem as a line. HTB would let the first two packets after a pause go at once: its bucket holds one, and the next may take what is not
/// there yet. So its queue holds one packet more than it says, and each arrives by its own time on the line too early. The packet on the
/// line counts in netem's limit.
fn timed(bits_per_s: u64, overhead: i64, packets: u64) -> String {
    let overhead = match overhead {
        0 => String::new(),
        bytes => format!(" {bytes}"),
    };
    let limit = packets.saturating_add(1).min(NO_LIMIT);
    format!("netem limit {limit} rate {bits_per_s}bit{overhead}")
}

/// The rates of a run after the first one, periods written out.
fn rate_changes(
    key: &str,
    line: &plain::Line,
    duration_ns: i64,
) -> Result<Vec<(i64, u64)>, Refusal> {
    /// A shorter period would call `tc` so often that the run takes hours.
    const MAX_CHANGES: usize = 10_000;
    let outage = line.changes.iter().any(|step| step.bits_per_s == 0);
    if outage || line.bits_per_s == 0 {
        let key = format!("{key}.{}", if outage { "rate_changes" } else { "rate" });
        return Err(Refusal::new(
            key,
            "HTB has no rate of 0",
            "more than 0 bit/s",
        ));
    }
    let mut out = Vec::new();
    let mut begin_ns = 0;
    while begin_ns < duration_ns && !line.changes.is_empty() {
        out.extend(
            line.changes
                .iter()
                .map(|step| (begin_ns + step.at_ns, step.bits_per_s)),
        );
        let Some(period_ns) = line.period_ns else {
            break;
        };
        begin_ns += period_ns;
        if out.len() > MAX_CHANGES {
            let what = format!("more than {MAX_CHANGES} changes of the rate");
            return Err(Refusal::new(
                format!("{key}.rate_period"),
                what,
                "a longer period",
            ));
        }
        if line.changes.first().is_none_or(|step| step.at_ns > 0) {
            out.push((begin_ns, line.bits_per_s));
        }
    }
    Ok(out)
}

fn framing_bytes(framing: Framing) -> i64 {
    match framing {
        Framing::Ethernet => 38,
        Framing::EthernetHeader => 14,
        Framing::Ppp => 2,
        Framing::None => 0,
    }
}

fn queue_words(
    key: &str,
    queue: inorder_scenario::config::Queue,
    discipline: &Discipline,
    bits_per_s: u64,
) -> Result<String, Refusal> {
    use inorder_scenario::config::Queue;
    let packets = match queue {
        Queue::Unlimited => Some(NO_LIMIT),
        Queue::Packets(packets) => Some(packets),
        Queue::Bytes(_) => None,
    };
    let counted = || {
        packets.ok_or_else(|| {
            let what = "this discipline counts its queue in packets";
            Refusal::new(format!("{key}.queue"), what, "packets, as \"1000 packets\"")
        })
    };
    match discipline {
        Discipline::DropTail => Ok(match queue {
            Queue::Bytes(bytes) => format!("bfifo limit {bytes}"),
            _ => format!("pfifo limit {}", packets.unwrap_or(NO_LIMIT)),
        }),
        Discipline::Codel(codel) => Ok(format!(
            "codel limit {} target {}us interval {}us {}",
            counted()?,
            codel.target_ns / 1000,
            codel.interval_ns / 1000,
            aqm::mark(codel.mark)
        )),
        Discipline::FqCodel(fair) => Ok(format!(
            "fq_codel limit {} flows {} quantum {} target {}us interval {}us {}",
            counted()?,
            fair.queues,
            fair.quantum_bytes,
            fair.target_ns / 1000,
            fair.interval_ns / 1000,
            aqm::mark(fair.mark)
        )),
        Discipline::Pie(pie) => aqm::pie(key, pie, counted()?),
        Discipline::Red(red) => aqm::red(key, red, queue, bits_per_s),
        Discipline::DualPi2(_) => {
            let what = "dualpi2 is in Linux since 6.17, and the lab's kernels are older";
            let expected = "\"pie\", \"codel\" or \"fq-codel\"";
            Err(Refusal::new(
                format!("{key}.queue_discipline"),
                what,
                expected,
            ))
        }
    }
}

fn of_bucket(key: &str, bucket: &plain::TokenBucket) -> Result<Vec<Hop>, Refusal> {
    let queue = queue_words(
        key,
        bucket.buffer.queue(bucket.bits_per_s),
        &Discipline::DropTail,
        bucket.bits_per_s,
    )?;
    let shaper = match bucket.charge {
        Charge::After if bucket.peak_bits_per_s.is_some() => {
            let what = "HTB has no second bucket";
            return Err(Refusal::new(
                format!("{key}.peak_rate"),
                what,
                "charge = \"before\" with it",
            ));
        }
        Charge::After => Shaper::Htb(bucket.bits_per_s, bucket.burst_bytes),
        Charge::Before => {
            // The queue below has its own limit.
            let mut words = format!(
                "tbf rate {}bit burst {} limit 1000000000",
                bucket.bits_per_s, bucket.burst_bytes
            );
            if let Some(peak) = bucket.peak_bits_per_s {
                words.push_str(&format!(
                    " peakrate {peak}bit minburst {}",
                    bucket.peak_burst_bytes
                ));
            }
            Shaper::Tbf(words)
        }
    };
    let overhead = framing_bytes(bucket.framing) - COUNTED;
    Ok(vec![Hop::Rate(Rate {
        shaper,
        overhead,
        queue,
        changes: Vec::new(),
    })])
}

impl Hop {
    /// Lines for `tc` that put the discipline to a device. The discipline whose drops count has the handle 10.
    pub(super) fn lines(&self, device: &str) -> Vec<String> {
        match self {
            Hop::Netem(netem) => vec![format!(
                "qdisc add dev {device} root handle 10: {}",
                netem.words()
            )],
            Hop::Rate(rate) => rate.lines(device),
            Hop::Card(_) | Hop::Lanes(_) => Vec::new(),
        }
    }

    /// Lines for `tc` during the run.
    pub(super) fn changes(&self, device: &str) -> Vec<(i64, String)> {
        match self {
            Hop::Netem(netem) => {
                let changes = netem.changes().into_iter();
                changes
                    .map(|(at_ns, words)| {
                        (
                            at_ns,
                            format!("qdisc change dev {device} root handle 10: {words}"),
                        )
                    })
                    .collect()
            }
            Hop::Rate(rate) => {
                let line =
                    |bits_per_s| format!("class change dev {device} {}", class(bits_per_s, 1600));
                rate.changes
                    .iter()
                    .map(|&(at_ns, bits_per_s)| (at_ns, line(bits_per_s)))
                    .collect()
            }
            Hop::Card(_) | Hop::Lanes(_) => Vec::new(),
        }
    }
}

fn class(bits_per_s: u64, burst: u64) -> String {
    format!(
        "parent 1: classid 1:1 htb rate {bits_per_s}bit burst {burst} cburst {burst} quantum 1514"
    )
}

impl Rate {
    fn lines(&self, device: &str) -> Vec<String> {
        let stab = match self.overhead {
            0 => String::new(),
            bytes => format!(" stab overhead {bytes} linklayer ethernet"),
        };
        let root = format!("qdisc add dev {device} root handle 1:{stab}");
        let mut lines = match &self.shaper {
            Shaper::Netem(words) => {
                return vec![format!("qdisc add dev {device} root handle 10: {words}")];
            }
            Shaper::Htb(bits_per_s, burst) => vec![
                format!("{root} htb default 1"),
                format!("class add dev {device} {}", class(*bits_per_s, *burst)),
            ],
            Shaper::Tbf(words) => vec![format!("{root} {words}")],
        };
        lines.push(format!(
            "qdisc add dev {device} parent 1:1 handle 10: {}",
            self.queue
        ));
        lines
    }
}
