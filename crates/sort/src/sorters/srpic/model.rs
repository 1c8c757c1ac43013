//! The paper's block-size model, sections 3.1 and 3.3, equations 1 to 5.
//!
//! Symbols: `P` is the arrival rate in packets/s; `T_intr` is the time in seconds from a packet's arrival to the
//! softirq that fetches it; `R_sn` is the rate in packets/s at which the softirq moves packets up the stack, and
//! `R'_sn` the same with SRPIC. `f64::INFINITY` as a rate stands for a softirq that takes no time. At an arrival rate
//! that the softirq cannot move, the ring never becomes empty, and the functions return infinity.

/// Equations 1 and 2: the number of packets of one cycle, and the time `T_j` in seconds that emptying the ring takes,
/// for arrivals at known times.
///
/// `R_sn * T_j = number of arrivals in [start, start + T_intr + T_j]`, solved for the smallest `T_j`. `arrivals_s`
/// are seconds in ascending order; arrivals before `start_s` are ignored.
pub fn cycle(arrivals_s: &[f64], start_s: f64, t_intr_s: f64, r_sn: f64) -> (usize, f64) {
    let arrived = |until: f64| {
        let upto = arrivals_s.partition_point(|&t| t <= until);
        upto - arrivals_s.partition_point(|&t| t < start_s).min(upto)
    };
    // Each round adds the packets that arrived during the last one, until there are no new ones.
    let mut packets = arrived(start_s + t_intr_s);
    loop {
        let busy_s = packets as f64 / r_sn;
        let now = arrived(start_s + t_intr_s + busy_s);
        if now == packets {
            return (packets, busy_s);
        }
        packets = now;
    }
}

/// Equation 3: block size in packets at a steady rate, `P T_intr / (1 - P / R_sn)`.
pub fn block_size(p: f64, t_intr_s: f64, r_sn: f64) -> f64 {
    if p >= r_sn {
        f64::INFINITY
    } else {
        p * t_intr_s / (1.0 - p / r_sn)
    }
}

/// Equation 4: the time `T_j` in seconds that the softirq works in a cycle with SRPIC and unlimited blocks, `P T_intr
/// / (R'_sn - P)`. It is also the delay of the first packet of the block.
pub fn emptying_time_s(p: f64, t_intr_s: f64, r_sn_srpic: f64) -> f64 {
    if p >= r_sn_srpic {
        f64::INFINITY
    } else if r_sn_srpic.is_infinite() {
        0.0
    } else {
        p * t_intr_s / (r_sn_srpic - p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Full-sized Ethernet packets per second at a throughput in Mb/s.
    fn packets_per_s(mbps: f64) -> f64 {
        mbps * 1e6 / (1500.0 * 8.0)
    }

    const T_INTR_S: f64 = 90e-6;
    const R_SN: f64 = 20e6;

    #[test]
    fn figure_2_block_sizes() {
        // The paper gives 1 packet at 95.3 Mb/s, commonly around 7 at 938 Mb/s, and 30 to 60 at 5.89 Gb/s.
        assert!(block_size(packets_per_s(95.3), T_INTR_S, R_SN) < 1.0);
        let gigabit = block_size(packets_per_s(938.0), T_INTR_S, R_SN);
        assert!((6.5..7.5).contains(&gigabit), "{gigabit}");
        let fast = block_size(packets_per_s(5890.0), T_INTR_S, R_SN);
        assert!((44.0..46.0).contains(&fast), "{fast}");
    }

    #[test]
    fn blocks_grow_faster_than_the_rate() {
        let (slow, fast) = (block_size(1e5, 75e-6, 1e6), block_size(8e5, 75e-6, 1e6));
        assert!(fast > 8.0 * slow * 4.0);
        assert_eq!(block_size(1e6, 75e-6, 1e6), f64::INFINITY);
    }

    #[test]
    fn equation_1_at_a_steady_rate_is_equation_3() {
        let p = 400_000.0;
        let arrivals: Vec<f64> = (0..10_000).map(|i| f64::from(i) / p).collect();
        let (packets, busy_s) = cycle(&arrivals, 0.0, 75e-6, 1e6);
        let expected = block_size(p, 75e-6, 1e6);
        assert!(
            (packets as f64 - expected).abs() <= 2.0,
            "{packets} {expected}"
        );
        assert!((busy_s - packets as f64 / 1e6).abs() < 1e-12);
    }

    #[test]
    fn equation_2_counts_what_comes_while_working() {
        // 10 packets at once, one more while they are moved (10 us each), and one later, which is not in this block.
        let mut arrivals = [0.0; 12];
        arrivals[10] = 75e-6 + 99e-6;
        arrivals[11] = 75e-6 + 111e-6;
        assert_eq!(cycle(&arrivals, 0.0, 75e-6, 1e5).0, 11);
        assert_eq!(cycle(&[], 0.0, 75e-6, 1e5), (0, 0.0));
    }

    #[test]
    fn equation_4() {
        let (p, r) = (490_833.0, 2e6);
        let t_j = emptying_time_s(p, T_INTR_S, r);
        // Block size divided by the service rate is the time to move the block: equation 3 with R'_sn.
        assert!((t_j - block_size(p, T_INTR_S, r) / r).abs() < 1e-12);
        assert_eq!(emptying_time_s(p, T_INTR_S, f64::INFINITY), 0.0);
    }
}
