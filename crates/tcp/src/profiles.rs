//! Named configurations, one entry each in [`PROFILES`].

use crate::config::{
    AccurateEcn, Acknowledging, BeyondWindow, Config, CongestionWindow, DelayedAck, Departures,
    EcnSettings, EcnUse, FrtoRules, GrowthAtEnd, GrowthUnit, LimitedTransmit, LossProbe,
    LossRecovery, MS, Nagle, Options, Receiving, Reduction, Rto, RtoStyle, SECOND, SackCompression,
    Sending, Undo, Unstamped, WindowAccount, WindowUpdate,
};
use crate::habits::Habits;

/// A configuration that can be selected by name.
#[derive(Debug)]
pub struct Profile {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// Its loss detection, a name in [`loss::REGISTRY`](crate::loss::REGISTRY).
    pub loss: &'static str,
    /// Its congestion control.
    pub congestion: &'static str,
    /// Creates the configuration.
    pub build: fn() -> Config,
}

/// All profiles.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "linux-6",
        about: "Linux 4.18 to 6.x defaults: RACK, PRR, TLP, F-RTO, undo",
        loss: "linux",
        congestion: "cubic",
        build: linux_6,
    },
    Profile {
        name: "linux-7",
        about: "Linux 7.3 as far as its own packetdrill scripts show differences from linux-6",
        loss: "linux",
        congestion: "cubic",
        build: linux_7,
    },
    Profile {
        name: "linux-2.6.24",
        about: "Linux 2.6.24 defaults: FACK until reordering is seen, cap 127, rate halving",
        loss: "linux-2.6.24",
        congestion: "cubic-2008",
        build: linux_2_6_24,
    },
    Profile {
        name: "linux-3.19",
        about: "Linux 3.19 defaults: FACK until reordering is seen, cap 300, PRR, TLP, F-RTO, undo",
        loss: "linux-3.19",
        congestion: "cubic-3.19",
        build: linux_3_19,
    },
    Profile {
        name: "ns-3.26",
        about: "ns-3.26 defaults: RFC 6582 with its own count of what is in flight, no SACK, initial window 1",
        loss: "ns-3.26",
        congestion: "reno-ns3",
        build: ns_3_26,
    },
    Profile {
        name: "ns-3.27",
        about: "ns-3.27 defaults: SACK with a fixed threshold; without it as ns-3.26, but for what is in flight",
        loss: "ns-3.27",
        congestion: "reno-ns3",
        build: ns_3_27,
    },
    Profile {
        name: "ns-3.37",
        about: "ns-3.37 defaults: fixed threshold, PRR, no undo, minimum RTO 1 s, its own rules without SACK",
        loss: "ns-3",
        congestion: "cubic-ns3",
        build: ns_3_37,
    },
    Profile {
        name: "ns-3",
        about: "ns-3.37 by its former name",
        loss: "ns-3",
        congestion: "cubic-ns3",
        build: ns_3_37,
    },
    Profile {
        name: "rfc",
        about: "RFC 5681, 6298, 6675 (6582 without SACK), 3042, and nothing else",
        loss: "static",
        congestion: "reno",
        build: rfc,
    },
];

/// The profile called `name`.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Default for Config {
    /// The profile `linux-6`.
    fn default() -> Self {
        linux_6()
    }
}

/// Linux 6 as installed, with buffers so large that they never limit.
pub fn linux_6() -> Config {
    Config {
        mss: 1460,
        isn: 0,
        seed: 0,
        options: Options {
            sack: true,
            dsack: true,
            timestamps: true,
            timestamp_tick: MS,
            paws: true,
            paws_window: 1,
            window_scale: Some(10),
        },
        cwnd: CongestionWindow {
            initial: 10,
            one_after_syns: Some(2),
            ssthresh: u32::MAX,
            clamp: u32::MAX,
            growth: GrowthUnit::Segments,
            grow_on_sack: true,
            rtt_by_timestamps: true,
            duplicates_deliver: true,
            reduction: Reduction::PrrLinux,
            moderate: false,
            restart_after_idle: true,
        },
        receive: Receiving {
            buffer: 32 << 20,
            autotuning: None,
            offer: u64::MAX,
            offer_whole_segments: false,
            account: WindowAccount::Memory,
            beyond: BeyondWindow::Take,
            update: WindowUpdate::Doubled,
            read_at_once: true,
        },
        acks: Acknowledging {
            delayed: DelayedAck::Linux {
                min: 40 * MS,
                max: 200 * MS,
                quick: 16,
            },
            sack_compression: Some(SackCompression {
                delay: MS,
                slack: MS / 10,
                max: 44,
            }),
            challenge: true,
            answer_unsent: false,
        },
        send: Sending {
            buffer: u64::MAX,
            autotuning: None,
            nagle: Nagle::Minshall,
            tso_segments: 0,
            pacing: None,
        },
        rto: Rto {
            style: RtoStyle::Linux,
            initial: SECOND,
            initial_after_syns: 3 * SECOND,
            min: 200 * MS,
            max: 120 * SECOND,
            granularity: MS,
            retries: 15,
            syn_retries: 6,
            syn_linear: 0,
        },
        recovery: LossRecovery {
            limited_transmit: LimitedTransmit::Pipe,
            departures: Departures::default(),
            forward_retransmit: false,
            frto: true,
            frto_rules: FrtoRules::Linux,
            duplicates_mark: false,
            loss_probe: LossProbe::Linux,
            undo: Undo {
                eifel: true,
                dsack: true,
                rfc4015: false,
                partial_within_recovery: false,
                unstamped: Unstamped::Partial,
                stamp_outlives_recovery: true,
                hold_marks: true,
            },
        },
        ecn: EcnSettings {
            usage: EcnUse::Accept,
            accurate: AccurateEcn::default(),
            fallback: true,
            ect1: false,
        },
        time_wait: 60 * SECOND,
        habits: Habits::default(),
    }
}

/// Linux 7.3: `linux-6` with what the kernel's own packetdrill scripts show to be different. The time of a SYN does not double in
/// the first four expiries (since 6.5), an acknowledgement of data never sent is answered (RFC 5961 section 5.2), and a segment
/// that ends beyond the window is taken only if nothing else waits to be read.
pub(crate) fn linux_7() -> Config {
    linux_6().with(|config| {
        config.receive.beyond = BeyondWindow::TakeIfEmpty;
        config.acks.answer_unsent = true;
        config.rto.syn_linear = 4;
    })
}

/// Linux 2.6.24 as installed: an initial window of three segments (RFC 3390 with an MSS of 1460), growth per
/// acknowledgement, initial timeout 3 s, no tail loss probe, no SACK compression.
pub(crate) fn linux_2_6_24() -> Config {
    linux_6().with(|config| {
        config.cwnd.initial = 3;
        config.cwnd.one_after_syns = None;
        config.cwnd.growth = GrowthUnit::PerAck;
        config.cwnd.grow_on_sack = false;
        config.cwnd.duplicates_deliver = false;
        config.cwnd.reduction = Reduction::RateHalving;
        config.cwnd.moderate = true;
        config.acks.sack_compression = None;
        config.acks.challenge = false;
        config.rto.initial = 3 * SECOND;
        config.rto.syn_retries = 5;
        config.recovery.forward_retransmit = true;
        config.recovery.frto_rules = FrtoRules::Rfc5682;
        config.recovery.duplicates_mark = true;
        config.cwnd.rtt_by_timestamps = false;
        config.recovery.loss_probe = LossProbe::Off;
        config.recovery.undo.partial_within_recovery = true;
        config.recovery.undo.unstamped = Unstamped::Original;
        config.ecn.usage = EcnUse::Off;
        config.ecn.ect1 = false;
    })
}

/// Linux 3.19 as installed. Known differences of the kernel that are not modelled: its tail loss probe waits at least
/// 10 ms and, with one segment outstanding, 1.5 round trips and 200 ms more; early retransmit; RTTs of retransmitted segments by
/// timestamps have the resolution of a tick.
pub(crate) fn linux_3_19() -> Config {
    linux_6().with(|config| {
        config.cwnd.duplicates_deliver = false;
        config.cwnd.growth = GrowthUnit::Cumulative;
        config.cwnd.reduction = Reduction::PrrSlowStart;
        config.acks.sack_compression = None;
        config.recovery.duplicates_mark = true;
        config.recovery.undo.unstamped = Unstamped::Nothing;
        config.cwnd.rtt_by_timestamps = false;
    })
}

/// ns-3.26 with its defaults: segments of 536 bytes, an initial window of one, no SACK, limited transmit, a timeout of at least
/// 1 s, and recovery by RFC 6582 section 3.2 with the window itself inflated. Not modelled: round-trip times in whole milliseconds by
/// timestamps, and the go-back-N after timeouts as far as it differs from marking everything as lost.
pub(crate) fn ns_3_26() -> Config {
    rfc().with(|config| {
        config.mss = 536;
        config.options.sack = false;
        config.cwnd.initial = 1;
        config.rto.initial_after_syns = 0;
        config.cwnd.growth = GrowthUnit::Cumulative;
        config.cwnd.reduction = Reduction::Inflate;
        config.recovery.limited_transmit = LimitedTransmit::Always;
        config.recovery.departures = Departures {
            reenter_at_recover: true,
            grow_when_unused: true,
            timer_at_first_partial: true,
            growth_at_end: GrowthAtEnd::Beyond,
            ..Departures::default()
        };
        config.ecn.usage = EcnUse::Off;
        config.ecn.ect1 = false;
    })
}

/// ns-3.27 with its defaults, of which SACK is one. Without SACK it differs from 3.26 in what counts as in flight (loss
/// detection `ns-3.27`), and the end of a recovery lets the window not grow.
pub(crate) fn ns_3_27() -> Config {
    ns_3_26().with(|config| {
        config.options.sack = true;
        config.recovery.departures.growth_at_end = GrowthAtEnd::Nothing;
    })
}

/// ns-3.37 with its defaults: segments of 536 bytes, PRR, limited transmit, a timeout of at least 1 s, and its own rules of
/// recovery without SACK ([`Departures`]). With SACK it follows RFC 6675 section 5, as the profile `rfc` does. Not modelled: windows
/// in bytes with CUBIC (its increments are whole segments), round-trip times in whole milliseconds by timestamps, and
/// smoothed ones for CUBIC.
pub(crate) fn ns_3_37() -> Config {
    rfc().with(|config| {
        config.mss = 536;
        config.cwnd.one_after_syns = None;
        config.rto.initial_after_syns = 0;
        config.cwnd.reduction = Reduction::PrrNs3;
        config.recovery.limited_transmit = LimitedTransmit::Pipe;
        config.recovery.departures = Departures {
            reenter_at_recover: true,
            duplicates_leave_flight: true,
            grow_when_unused: true,
            timer_at_first_partial: true,
            first_ack_at_once: true,
            ..Departures::default()
        };
        config.ecn.usage = EcnUse::Off;
        config.ecn.ect1 = false;
    })
}

/// The standards track: RFC 9293, 5681, 6298, 6675, 6582, 3042, 2883, 7323, initial window of RFC 6928.
pub fn rfc() -> Config {
    linux_6().with(|config| {
        config.options.paws_window = 0;
        config.cwnd.one_after_syns = Some(1);
        config.cwnd.grow_on_sack = false;
        config.cwnd.rtt_by_timestamps = false;
        config.cwnd.duplicates_deliver = false;
        config.cwnd.reduction = Reduction::Immediate;
        config.receive.account = WindowAccount::Unread;
        config.receive.beyond = BeyondWindow::Cut;
        config.receive.update = WindowUpdate::TwoSegments;
        config.acks.delayed = DelayedAck::Rfc {
            segments: 2,
            timeout: 200 * MS,
        };
        config.acks.sack_compression = None;
        config.acks.answer_unsent = true;
        config.send.nagle = Nagle::Rfc896;
        config.rto.style = RtoStyle::Rfc;
        config.rto.initial = SECOND;
        config.rto.min = SECOND;
        config.rto.max = 60 * SECOND;
        config.recovery.limited_transmit = LimitedTransmit::Rfc3042;
        config.recovery.forward_retransmit = true;
        config.recovery.frto = false;
        config.recovery.frto_rules = FrtoRules::Rfc5682;
        config.recovery.loss_probe = LossProbe::Off;
        config.recovery.undo = Undo {
            eifel: false,
            dsack: false,
            rfc4015: false,
            partial_within_recovery: false,
            unstamped: Unstamped::Nothing,
            stamp_outlives_recovery: false,
            hold_marks: false,
        };
    })
}
