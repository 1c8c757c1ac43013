//! The configuration of the stack by a script, before sockets are created.
//!
//! A script can configure the stack by `--name=value` options and by commands between backquotes (`sysctl`, `ip
//! route`, and known scripts such as `defaults.sh`). Without them the profile applies.

mod command;
pub(crate) mod inspect;
mod sysctl;

use inorder_tcp::config::{
    Config, DelayedAck, Nagle, Pacing, Reduction, WindowAccount, WindowUpdate,
};
use inorder_tcp::loss::{LinuxFack, LinuxRack, LinuxSequence, LossDetection, Static, Version};
use inorder_tcp::profiles::{self, Profile};
use inorder_tcp::{Endpoint, Nanos, congestion, loss};

use crate::fast_open;
use crate::script::Setting;

pub(crate) use command::apply_command;

/// Linux's `tcp_rmem`, bytes: default and maximum.
const LINUX_MEMORY: (u64, u64) = (131_072, 32 << 20);

/// packetdrill's own default tolerance.
pub(crate) const DEFAULT_TOLERANCE: Nanos = 4_000_000;

/// The settings for a new connection.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The endpoint's configuration.
    pub config: Config,
    /// Name of the congestion control, in [`congestion::REGISTRY`].
    pub congestion: String,
    /// Name of the loss detection, in [`loss::REGISTRY`].
    pub loss: String,
    /// `tcp_max_reordering`, if set.
    pub max_reordering: Option<u32>,
    /// `tcp_reordering`, if set.
    pub reordering: Option<u32>,
    /// Tolerance for times, ns.
    pub tolerance: Nanos,
    /// Tick of the timestamps in the script, ns, if they are to be checked against the clock.
    pub timestamp_tick: Option<Nanos>,
    /// `tcp_min_tso_segs`: minimum number of segments in a paced burst.
    pub least_burst: u32,
    /// Largest IP packet, bytes.
    mtu: u64,
    /// Length of the IP header, bytes.
    ip_header: u64,
    /// `getsockopt` reports twice the buffer that `setsockopt` asked for, as Linux does.
    pub(crate) doubles_buffers: bool,
    /// The script sets names of FreeBSD, whose rules for the receive buffer apply: see [`Setup::freebsd`].
    pub(crate) freebsd: bool,
    /// The device accepts nothing (a queue without room), so the stack's packets stay unsent.
    pub device_full: bool,
    /// TCP Fast Open.
    pub(crate) fast_open: fast_open::Settings,
}

/// A number in a script in units of `unit` nanoseconds; values that are too large become the largest time.
fn nanos(number: u64, unit: Nanos) -> Nanos {
    Nanos::try_from(number).map_or(Nanos::MAX, |number| number.saturating_mul(unit))
}

impl Setup {
    /// The settings of the profile.
    pub fn new(profile: &Profile) -> Self {
        let mut setup = Self {
            config: (profile.build)().with(|config| {
                config.receive.read_at_once = false;
                // Scripts specify the buffer to the byte.
                config.receive.account = WindowAccount::Unread;
                config.receive.buffer = 65_535;
            }),
            congestion: profile.congestion.to_owned(),
            loss: profile.loss.to_owned(),
            max_reordering: None,
            reordering: None,
            tolerance: DEFAULT_TOLERANCE,
            timestamp_tick: None,
            least_burst: 2,
            mtu: 1_500,
            ip_header: 20,
            doubles_buffers: profile.name.starts_with("linux"),
            freebsd: false,
            device_full: false,
            fast_open: fast_open::Settings::default(),
        };
        if setup.doubles_buffers {
            setup.set_receive_memory(LINUX_MEMORY.0, LINUX_MEMORY.1);
        }
        setup
    }

    /// `tcp_rmem`: half of it is for data. The buffer begins with the default and follows what the application reads up to the
    /// largest; a window of 65,535 bytes, in whole segments, is offered at first (Linux `tcp_select_initial_window`).
    pub(crate) fn set_receive_memory(&mut self, default: u64, largest: u64) {
        self.config.receive.autotuning = Some(default / 2);
        self.config.receive.offer = u16::MAX.into();
        self.config.receive.offer_whole_segments = true;
        self.config.receive.buffer = largest.max(default) / 2;
        let scale = sysctl::scale_for(largest);
        self.config.options.window_scale = self.config.options.window_scale.map(|_| scale);
    }

    /// A setting of FreeBSD shows for which system the script is written: FreeBSD's defaults for the receive buffer and the
    /// window scale hold, unless the script changes them (tcp(4), `tcp_recvspace`, `sb_max`).
    pub(crate) fn freebsd(&mut self) {
        const RECEIVE_SPACE: u64 = 65_536;
        const LARGEST_BUFFER: u64 = 2 << 20;
        if std::mem::replace(&mut self.freebsd, true) {
            return;
        }
        self.config.receive.buffer = RECEIVE_SPACE;
        self.config.receive.autotuning = None;
        self.config.receive.offer = u64::MAX;
        self.config.receive.offer_whole_segments = false;
        self.config.receive.account = WindowAccount::Room;
        self.config.receive.update = WindowUpdate::TwoSegments;
        self.doubles_buffers = false;
        self.set_largest_buffer(LARGEST_BUFFER);
    }

    /// `kern.ipc.maxsockbuf`: FreeBSD announces the window scale with which the largest buffer could be offered, whatever the
    /// size of this one (`syncache_add`, `tcp_connect`).
    pub(crate) fn set_largest_buffer(&mut self, bytes: u64) {
        let scale = (0..14)
            .find(|&shift| 65_535 << shift >= bytes)
            .unwrap_or(14);
        self.config.options.window_scale = self.config.options.window_scale.map(|_| scale);
    }

    /// The receive buffer of a connection whose peer announces this MSS. FreeBSD rounds it up to whole segments
    /// (`tcp_mss`).
    pub(crate) fn receive_buffer(&self, peer_mss: u32) -> u64 {
        let bytes = self.config.receive.buffer;
        let mss = u64::from(self.config.mss.min(peer_mss).max(1));
        if self.freebsd && bytes > mss {
            bytes.next_multiple_of(mss)
        } else {
            bytes
        }
    }

    /// Applies a setting of the system, whose name has a dot, or an option of scripts.
    ///
    /// # Errors
    /// A sentence if this subset does not support it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.contains('.') {
            return sysctl::set(self, name, value);
        }
        self.option(&Setting {
            line: 0,
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }

    /// Applies an option of the script.
    ///
    /// # Errors
    /// A sentence if this subset does not support it.
    pub fn option(&mut self, setting: &Setting) -> Result<(), String> {
        let value = setting.value.trim_matches('"');
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("--{}: {value:?} is not a number", setting.name))
        };
        let address = || {
            value
                .parse()
                .map_err(|_| format!("--{}: {value:?} is no address", setting.name))
        };
        match setting.name.as_str() {
            "tolerance_usecs" => self.tolerance = nanos(number()?, 1_000),
            "tcp_ts_tick_usecs" => {
                let tick = nanos(number()?, 1_000);
                self.timestamp_tick = (tick > 0).then_some(tick);
                self.config.options.timestamp_tick = tick.max(1_000);
            }
            "mtu" => self.set_mtu(number()?),
            // Over IPv6 the header has 20 bytes more; nothing else of it is examined.
            "ip_version" => {
                self.ip_header = match value {
                    "ipv4" | "ipv4-mapped-ipv6" => 20,
                    "ipv6" => 40,
                    _ => return Err(format!("--ip_version={value}: expected ipv4 or ipv6")),
                };
                self.fast_open.set_version(self.ip_header == 40);
                self.size_segments();
            }
            "local_ip" => self.fast_open.local = address()?,
            "remote_ip" => self.fast_open.remote = address()?,
            // Ports have no effect: there is one connection at a time. `mss` is the size of the pieces
            // of an injected super-segment, which arrives as one here.
            "mss" | "local_linklocal_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
            | "connect_port" | "non_fatal" | "tolerance_percent" | "persistent_tun_dev"
            | "send_omit_free" | "verbose" | "debug" | "speed" | "strict_segments"
            | "tcp_ts_ecr_scaled" | "code_command" | "code_format" | "code_sockopt"
            | "init_scripts" | "dry_run" => {}
            // Segments within UDP packets are other packets on the wire.
            "udp_encapsulation" if value.is_empty() || value == "none" => {}
            "inorder_profile" => self.profile(value)?,
            "inorder_loss" => {
                loss::find(value).ok_or_else(|| format!("no loss detection {value:?}"))?;
                value.clone_into(&mut self.loss);
            }
            "inorder_congestion" => self.set_congestion(value)?,
            "inorder_reduction" => self.config.cwnd.reduction = reduction(value)?,
            _ => return Err(format!("option --{}", setting.name)),
        }
        Ok(())
    }

    /// The largest IP packet of the device.
    fn set_mtu(&mut self, bytes: u64) {
        self.mtu = bytes;
        self.size_segments();
    }

    /// The MSS that the MTU allows below this IP header.
    fn size_segments(&mut self) {
        const TCP_HEADER: u64 = 20;
        let headers = self.ip_header + TCP_HEADER;
        self.config.mss = self.mtu.saturating_sub(headers).clamp(1, 65_495) as u32;
    }

    fn profile(&mut self, name: &str) -> Result<(), String> {
        let profile = profiles::find(name).ok_or_else(|| format!("no profile {name:?}"))?;
        *self = Self {
            tolerance: self.tolerance,
            timestamp_tick: self.timestamp_tick,
            mtu: self.mtu,
            ip_header: self.ip_header,
            fast_open: self.fast_open.clone(),
            ..Self::new(profile)
        };
        // A profile has segments of its own size unless the script gave the size of packets before.
        if (self.mtu, self.ip_header) != (1_500, 20) {
            self.size_segments();
        }
        Ok(())
    }

    pub(crate) fn set_congestion(&mut self, name: &str) -> Result<(), String> {
        // Names that kernels use for algorithms with other names here.
        let name = if name == "newreno" { "reno" } else { name };
        congestion::find(name).ok_or_else(|| format!("congestion control {name}"))?;
        name.clone_into(&mut self.congestion);
        Ok(())
    }

    /// The loss detection with the thresholds that the script requests.
    ///
    /// # Errors
    /// A sentence if no loss detection supports these thresholds.
    pub fn loss_detection(&self) -> Result<Box<dyn LossDetection>, String> {
        let entry = loss::find(&self.loss).ok_or_else(|| format!("no {:?}", self.loss))?;
        let start = self.reordering.unwrap_or(3);
        if self.loss == "static" {
            return Ok(Box::new(Static::new(start)));
        }
        if start != 3 {
            if self.loss == "linux-norack" && self.max_reordering == Some(start) {
                return Ok(Box::new(Static::new(start)));
            }
            return Err(format!(
                "tcp_reordering={start} with loss detection {}",
                self.loss
            ));
        }
        let Some(cap) = self.max_reordering else {
            return Ok((entry.build)());
        };
        Ok(match self.loss.as_str() {
            "linux" => Box::new(LinuxRack::new(cap)),
            "linux-norack" => Box::new(LinuxSequence::new(cap)),
            "linux-2.6.24" => Box::new(LinuxFack::new(Version::V2_6_24).with_cap(cap)),
            "linux-3.19" => Box::new(LinuxFack::new(Version::V3_19).with_cap(cap)),
            _ => return Err(format!("tcp_max_reordering with {}", self.loss)),
        })
    }

    /// A closed endpoint with initial sequence number `isn`, for a peer that announces this MSS.
    ///
    /// # Errors
    /// A sentence if a requested algorithm does not exist.
    pub fn endpoint(&self, isn: u32, peer_mss: u32) -> Result<Endpoint, String> {
        let control = congestion::find(&self.congestion)
            .ok_or_else(|| format!("congestion control {}", self.congestion))?;
        let receive_buffer = self.receive_buffer(peer_mss);
        let config = self.config.clone().with(|config| {
            config.isn = isn;
            config.receive.buffer = receive_buffer;
        });
        Ok(Endpoint::new(
            &config,
            (control.build)(),
            self.loss_detection()?,
        ))
    }

    /// Paces segments over the round trip, with at most `max_rate` bytes per second; `None` switches pacing off.
    pub fn set_pacing(&mut self, max_rate: Option<u64>) {
        self.config.send.pacing = max_rate.map(|max_rate| Pacing {
            max_rate,
            burst: self.least_burst,
        });
    }

    /// `SO_RCVBUF`: Linux doubles the value for its bookkeeping and offers half of it. A window scale is announced
    /// only if the buffer needs one (`tcp_select_initial_window`).
    pub(crate) fn set_receive_buffer(&mut self, bytes: u64) {
        let bytes = bytes.max(1_152);
        self.config.receive.buffer = bytes;
        self.config.receive.autotuning = None;
        if self.freebsd {
            return;
        }
        let scale = self.config.options.window_scale;
        self.config.options.window_scale = scale.map(|_| sysctl::scale_for(bytes));
    }

    /// `TCP_NODELAY`.
    pub(crate) fn set_no_delay(&mut self, on: bool) {
        self.config.send.nagle = if on { Nagle::Off } else { Nagle::Minshall };
    }

    /// Maximum delay of an acknowledgement (`net.inet.tcp.delacktime`), ns.
    pub(crate) fn set_delay(&mut self, wait: Nanos) {
        match &mut self.config.acks.delayed {
            DelayedAck::Off => {}
            DelayedAck::Rfc { timeout, .. } => *timeout = wait,
            DelayedAck::Linux { min, max, .. } => {
                *min = wait;
                *max = wait.max(*max);
            }
        }
    }

    /// Acknowledges every segment at once, or as in the standard (`net.inet.tcp.delayed_ack`).
    pub(crate) fn set_delayed_ack(&mut self, on: bool) {
        self.config.acks.delayed = if on {
            profiles::rfc().acks.delayed
        } else {
            DelayedAck::Off
        };
    }
}

/// The reduction of the window in recovery, by the names of RFC 6937 and its predecessors.
fn reduction(name: &str) -> Result<Reduction, String> {
    Ok(match name {
        "immediate" => Reduction::Immediate,
        "rate-halving" => Reduction::RateHalving,
        "prr-crb" => Reduction::PrrConservative,
        "prr-ssrb" => Reduction::PrrSlowStart,
        "prr-linux" => Reduction::PrrLinux,
        _ => return Err(format!("no reduction {name:?}")),
    })
}
