//! Queues that drop or mark early, as words of `tc`.

use inorder_path::red_weight;
use inorder_scenario::config::{DelayEstimate, Pie, Queue, Red};

use super::refusal::Refusal;

/// Limit of RED's queue if the scenario has none, bytes.
const NO_LIMIT_BYTES: u64 = 100_000_000;
/// The kernel's allowance for bursts of PIE, nanoseconds; `tc` has no option for it.
const PIE_BURST_NS: i64 = 150_000_000;
/// `tc` takes PIE's weights in sixteenths, whole ones up to this.
const PIE_MOST: f64 = 32.0;

/// The word for marking.
pub(super) fn mark(on: bool) -> &'static str {
    if on { "ecn" } else { "noecn" }
}

/// PIE with a queue of this many packets; nothing else is asked for.
pub(super) fn pie(key: &str, pie: &Pie, packets: u64) -> Result<String, Refusal> {
    if pie.burst_ns != PIE_BURST_NS {
        let what = "Linux has no option for it";
        return Err(Refusal::new(format!("{key}.burst"), what, "\"150 ms\""));
    }
    let sixteenths = |name: &str, weight: f64| {
        let scaled = weight * 16.0;
        let fits = scaled == scaled.round() && scaled <= PIE_MOST;
        let what = "Linux has it in sixteenths up to 2";
        fits.then_some(scaled as u32)
            .ok_or_else(|| Refusal::new(format!("{key}.{name}"), what, "as 0.125 or 1.25"))
    };
    let mut words = format!(
        "pie limit {packets} target {}us tupdate {}us alpha {} beta {} {}",
        pie.target_ns / 1000,
        pie.update_ns / 1000,
        sixteenths("alpha", pie.alpha)?,
        sixteenths("beta", pie.beta)?,
        mark(pie.mark),
    );
    if pie.by_bytes {
        words.push_str(" bytemode");
    }
    if pie.estimate == DelayEstimate::DepartureRate {
        words.push_str(" dq_rate_estimator");
    }
    Ok(words)
}

/// RED before a link of this rate.
pub(super) fn red(key: &str, red: &Red, queue: Queue, bits_per_s: u64) -> Result<String, Refusal> {
    let Red {
        min_bytes,
        max_bytes,
        max_probability,
        weight,
        packet_bytes,
        adaptive,
        gentle,
        mark: marks,
        hard_drop,
    } = *red;
    let limit = match queue {
        Queue::Unlimited => NO_LIMIT_BYTES,
        Queue::Bytes(bytes) => bytes,
        Queue::Packets(_) => {
            let what = "RED counts its queue in bytes";
            return Err(Refusal::new(
                format!("{key}.queue"),
                what,
                "bytes, as \"180 kB\"",
            ));
        }
    };
    if gentle {
        let what = "Linux's red is not gentle";
        return Err(Refusal::new(format!("{key}.gentle"), what, "false"));
    }
    let burst = match weight {
        None => Some(red_weight::usual_burst(min_bytes, max_bytes, packet_bytes)),
        Some(weight) => burst_of(min_bytes, packet_bytes, weight),
    };
    let Some(burst) = burst else {
        let what = "tc has no burst for this weight";
        let expected = "a power of 1/2 above that of the mean of one packet";
        return Err(Refusal::new(format!("{key}.weight"), what, expected));
    };
    let mut words = format!(
        "red limit {limit} min {min_bytes} max {max_bytes} avpkt {packet_bytes} burst {burst} probability \
         {max_probability} bandwidth {bits_per_s}bit"
    );
    for (word, is_on) in [
        ("ecn", marks),
        ("harddrop", hard_drop),
        ("adaptive", adaptive),
    ] {
        if is_on {
            words.push_str(&format!(" {word}"));
        }
    }
    Ok(words)
}

/// The burst for which `tc` chooses this weight.
fn burst_of(min_bytes: u64, packet_bytes: u32, weight: f64) -> Option<u64> {
    /// Bursts that are tried: a larger one makes the mean slower than the longest run.
    const MAX_BURST_PACKETS: u64 = 100_000;
    let least = min_bytes.div_ceil(packet_bytes.max(1).into());
    let fits = |burst: &u64| red_weight::for_burst(min_bytes, *burst, packet_bytes) == weight;
    (least..MAX_BURST_PACKETS).find(fits)
}
