//! The weight of a new length in the mean, as `tc` chooses it.

/// The weight that `tc` chooses: the largest power of 1/2 with which a burst of `(2 min + max) / (3 packet)` packets
/// into an empty queue does not lift the mean to `min`: equation 3 of the paper, with a power that is smaller by 1.
pub(crate) fn usual(min_bytes: u64, max_bytes: u64, packet_bytes: u32) -> f64 {
    let burst = usual_burst(min_bytes, max_bytes, packet_bytes);
    for_burst(min_bytes, burst, packet_bytes)
}

/// The burst, in packets, for which `tc` chooses the weight if it is given none.
pub fn usual_burst(min_bytes: u64, max_bytes: u64, packet_bytes: u32) -> u64 {
    let bytes = min_bytes.saturating_mul(2).saturating_add(max_bytes);
    bytes / (3 * u64::from(packet_bytes.max(1)))
}

/// The weight that `tc` chooses for a burst of `burst_packets` packets.
pub fn for_burst(min_bytes: u64, burst_packets: u64, packet_bytes: u32) -> f64 {
    let packet = f64::from(packet_bytes.max(1));
    let burst = burst_packets as f64;
    let most = burst + 1.0 - min_bytes as f64 / packet;
    let mut weight = 0.5;
    for _ in 1..32 {
        if most <= (1.0 - libm::pow(1.0 - weight, burst)) / weight {
            break;
        }
        weight /= 2.0;
    }
    weight
}
