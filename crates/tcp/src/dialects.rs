//! Named sets of habits: what is known of how stacks speak TCP, one entry each in [`DIALECTS`].
//!
//! A dialect sets everything that a profile sets. It is no model of a stack in all its details: it has the habits on the wire that
//! tell stacks apart, and numbers of its timers and windows, from the places named as its source.

use crate::config::{
    BeyondWindow, Config, DelayedAck, LossProbe, MS, Nagle, Reduction, RtoStyle, SECOND,
    WindowAccount, WindowUpdate,
};
use crate::habits::{
    AckOfFill, AfterTimeout, AtDuplicates, Echo, Habits, Identification, PawsAnswer, ProbePart,
    Repeats, SackOrder,
};
use crate::profiles::{linux_6, rfc};

/// A set of habits that can be selected by name.
#[derive(Debug)]
pub struct Dialect {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// Where the habits are written down: documents, or files of the stack's source.
    pub source: &'static str,
    /// Its loss detection, a name in [`loss::REGISTRY`](crate::loss::REGISTRY).
    pub loss: &'static str,
    /// Its congestion control.
    pub congestion: &'static str,
    /// Creates the configuration.
    pub build: fn() -> Config,
}

/// All dialects.
pub static DIALECTS: &[Dialect] = &[
    Dialect {
        name: "linux",
        about: "Linux 6 with its identifications and random timestamps",
        source: "net/ipv4/tcp_output.c (ip_queue_xmit, tcp_make_synack), secure_seq.c, tcp_input.c of Linux 6.1",
        loss: "linux",
        congestion: "cubic",
        build: linux,
    },
    Dialect {
        name: "linux-rack",
        about: "Linux 6.17 and later: RACK alone decides what is lost",
        source: "net/ipv4/tcp_recovery.c, tcp_input.c of Linux 6.17; RFC 8985",
        loss: "rack",
        congestion: "cubic",
        build: linux,
    },
    Dialect {
        name: "standards",
        about: "the standards track and nothing else, as the profile rfc",
        source: "RFC 9293, 5681, 6298, 6675, 6582, 3042, 2883, 7323",
        loss: "static",
        congestion: "reno",
        build: rfc,
    },
    Dialect {
        name: "balancer-like",
        about: "packets sent again keep their identification; copies of the tail after 10 ms",
        source: "recordings of load balancers and content networks",
        loss: "linux",
        congestion: "bbr",
        build: balancer,
    },
    Dialect {
        name: "windows-like",
        about: "no timestamps, one identification for the host, probes of the last bytes, minimum RTO 300 ms",
        source: "Microsoft, Set-NetTCPSetting (template Internet: InitialCongestionWindow 10, MinRto 300, DelayedAckTimeout 40, \
                 Timestamps disabled); RFC 8985; RFC 2883",
        loss: "rack",
        congestion: "cubic",
        build: windows,
    },
    Dialect {
        name: "old-windows-like",
        about: "no timestamps, identifications counted by 256, no DSACK, ACKs after 200 ms",
        source: "Microsoft, TCP/IP registry values of Windows 2000 and XP (TcpDelAckTicks, Tcp1323Opts)",
        loss: "static",
        congestion: "reno",
        build: old_windows,
    },
    Dialect {
        name: "macos-like",
        about: "identification 0, each eighth segment acknowledged, retransmissions joined",
        source: "bsd/netinet/tcp_input.c (maxseg_unacked), tcp_timer.h, ip_output.c (rfc6864) of XNU",
        loss: "rack",
        congestion: "cubic",
        build: macos,
    },
    Dialect {
        name: "freebsd-like",
        about: "identification 0, RFC 6675 with retransmissions joined, ACKs after 40 ms, a plain ACK for PAWS",
        source: "sys/netinet/tcp_input.c, tcp_sack.c, tcp_timer.c, ip_id.c of FreeBSD 14",
        loss: "static",
        congestion: "cubic",
        build: freebsd,
    },
    Dialect {
        name: "openbsd-like",
        about: "random identifications, timestamps of 500 ms, no DSACK, minimum RTO 1 s",
        source: "sys/netinet/tcp_input.c, tcp_timer.h, ip_id.c of OpenBSD 7.2",
        loss: "static",
        congestion: "reno",
        build: openbsd,
    },
    Dialect {
        name: "old-bsd-like",
        about: "one identification for the host, everything outstanding again after a time-out, timestamps of 500 ms",
        source: "Wright and Stevens, TCP/IP Illustrated, volume 2, chapters 25 to 29 (4.4BSD-Lite)",
        loss: "static",
        congestion: "reno",
        build: old_bsd,
    },
    Dialect {
        name: "slirp-like",
        about: "4.4BSD without timestamps and SACK, one identification for the host",
        source: "src/tcp_input.c, tcp_output.c, ip_output.c of libslirp 4.7",
        loss: "static",
        congestion: "reno",
        build: slirp,
    },
    Dialect {
        name: "lwip-like",
        about: "ascending SACK blocks, no DSACK, a filled hole acknowledged late, one identification for the host",
        source: "src/core/tcp_in.c, tcp_out.c, ipv4/ip4.c, include/lwip/opt.h of lwIP 2.1",
        loss: "static",
        congestion: "reno",
        build: lwip,
    },
    Dialect {
        name: "gvisor-like",
        about: "identification 0, no DSACK, no PAWS, RACK",
        source: "pkg/tcpip/transport/tcp/rcv.go, snd.go, rack.go of gVisor",
        loss: "rack",
        congestion: "reno",
        build: gvisor,
    },
    Dialect {
        name: "smoltcp-like",
        about: "one SACK block, the newest timestamp echoed, the whole window again at duplicates",
        source: "src/socket/tcp.rs of smoltcp 0.11",
        loss: "static",
        congestion: "reno",
        build: smoltcp,
    },
];

/// The dialect called `name`.
pub fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

fn rfc_acks(segments: u32, timeout_ms: i64) -> DelayedAck {
    DelayedAck::Rfc {
        segments,
        timeout: timeout_ms * MS,
    }
}

fn linux() -> Config {
    linux_6().with(|config| {
        config.habits = Habits {
            identification: Identification::Own,
            random_timestamps: true,
            ..Habits::default()
        }
    })
}

fn balancer() -> Config {
    linux().with(|config| {
        config.habits.identification = Identification::Kept;
        config.habits.probe_after = Some(10 * MS);
    })
}

/// What stacks have in common that are not Linux: the standards, with a time-out of at least `least_ms`.
fn other(least_ms: i64) -> Config {
    rfc().with(|config| {
        config.send.nagle = Nagle::Rfc896;
        config.rto.style = RtoStyle::Rfc;
        config.rto.initial = SECOND;
        config.rto.min = least_ms * MS;
        config.habits = Habits {
            repeats: Repeats::Joined,
            paws_answer: PawsAnswer::Ack,
            ..Habits::default()
        };
    })
}

fn windows() -> Config {
    other(300).with(|config| {
        config.options.timestamps = false;
        config.cwnd.reduction = Reduction::PrrSlowStart;
        config.acks.delayed = rfc_acks(2, 40);
        config.recovery.loss_probe = LossProbe::Rfc8985;
        config.habits.identification = Identification::Host;
        config.habits.probe_part = ProbePart::LastBytes;
    })
}

fn old_windows() -> Config {
    other(300).with(|config| {
        config.options.timestamps = false;
        config.options.dsack = false;
        config.cwnd.initial = 2;
        config.acks.delayed = rfc_acks(2, 200);
        config.habits.identification = Identification::HostSwapped;
        config.habits.after_timeout = AfterTimeout::Outstanding;
    })
}

fn macos() -> Config {
    other(230).with(|config| {
        config.cwnd.reduction = Reduction::PrrSlowStart;
        config.receive.account = WindowAccount::Room;
        config.acks.delayed = rfc_acks(8, 100);
        config.recovery.loss_probe = LossProbe::Rfc8985;
        config.habits.identification = Identification::Zero;
        config.habits.random_timestamps = true;
        config.habits.probe_part = ProbePart::LastBytes;
    })
}

fn freebsd() -> Config {
    other(230).with(|config| {
        config.cwnd.reduction = Reduction::PrrSlowStart;
        config.receive.account = WindowAccount::Room;
        config.acks.delayed = rfc_acks(2, 40);
        config.habits.identification = Identification::Zero;
        config.habits.random_timestamps = true;
    })
}

fn openbsd() -> Config {
    other(1000).with(|config| {
        config.options.timestamp_tick = 500 * MS;
        config.options.dsack = false;
        config.acks.delayed = rfc_acks(2, 200);
        config.habits.identification = Identification::Random;
        config.habits.random_timestamps = true;
        config.habits.after_timeout = AfterTimeout::Outstanding;
    })
}

fn old_bsd() -> Config {
    other(1000).with(|config| {
        config.options.timestamp_tick = 500 * MS;
        config.options.dsack = false;
        config.cwnd.initial = 4;
        config.receive.account = WindowAccount::Room;
        config.acks.delayed = rfc_acks(2, 200);
        config.acks.challenge = false;
        config.habits.identification = Identification::Host;
        config.habits.after_timeout = AfterTimeout::Outstanding;
    })
}

fn slirp() -> Config {
    old_bsd().with(|config| {
        config.options.timestamps = false;
        config.options.sack = false;
        config.cwnd.initial = 1;
    })
}

fn lwip() -> Config {
    other(500).with(|config| {
        config.options.timestamps = false;
        config.options.paws = false;
        config.options.dsack = false;
        config.cwnd.initial = 4;
        config.receive.beyond = BeyondWindow::Cut;
        config.receive.update = WindowUpdate::TwoSegments;
        config.acks.delayed = rfc_acks(2, 250);
        config.habits.identification = Identification::Host;
        config.habits.repeats = Repeats::AsCut;
        config.habits.after_timeout = AfterTimeout::Outstanding;
        config.habits.ack_of_fill = AckOfFill::Delayed;
        config.habits.sack_order = SackOrder::Ascending;
    })
}

fn gvisor() -> Config {
    other(200).with(|config| {
        config.options.dsack = false;
        config.options.paws = false;
        config.acks.delayed = rfc_acks(2, 40);
        config.recovery.loss_probe = LossProbe::Rfc8985;
        config.habits.identification = Identification::Zero;
        config.habits.random_timestamps = true;
        config.habits.repeats = Repeats::AsCut;
    })
}

fn smoltcp() -> Config {
    other(1000).with(|config| {
        config.options.dsack = false;
        config.options.paws = false;
        config.acks.delayed = rfc_acks(2, 10);
        config.habits.identification = Identification::Zero;
        config.habits.after_timeout = AfterTimeout::Outstanding;
        config.habits.at_duplicates = AtDuplicates::Window;
        config.habits.sack_blocks = 1;
        config.habits.echo = Echo::Newest;
    })
}
