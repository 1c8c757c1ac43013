//! Endpoints: a profile, and the settings that differ from it.

use std::sync::Arc;

use inorder_scenario::config as plain;
use inorder_tcp::config::{DelayedAck, Departures, Numbers, Pacing, SackCompression};
use inorder_tcp::{Config, Endpoint, congestion, dialects, loss, profiles};

use super::habits;
use crate::error::Error;
use crate::own::Own;

/// Everything needed to create endpoints of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    config: Arc<Config>,
    control: (&'static str, Control),
    loss: (&'static str, Detection),
    dupthresh: Option<u32>,
}

/// How an algorithm is created.
enum Make<T: ?Sized> {
    Listed(fn() -> Box<T>),
    Own(Arc<dyn Fn() -> Box<T> + Send + Sync>),
}

type Control = Make<dyn congestion::CongestionControl>;
type Detection = Make<dyn loss::LossDetection>;

impl<T: ?Sized> Make<T> {
    fn make(&self) -> Box<T> {
        match self {
            Make::Listed(build) => build(),
            Make::Own(make) => make(),
        }
    }
}

impl<T: ?Sized> Clone for Make<T> {
    fn clone(&self) -> Self {
        match self {
            Make::Listed(build) => Make::Listed(*build),
            Make::Own(make) => Make::Own(Arc::clone(make)),
        }
    }
}

impl<T: ?Sized> std::fmt::Debug for Make<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Make")
    }
}

fn control(name: &str, own: &Own) -> Option<(&'static str, Control)> {
    if let Some((name, make)) = own.control(name) {
        return Some((name, Make::Own(make)));
    }
    let listed = congestion::find(name)?;
    Some((listed.name, Make::Listed(listed.build)))
}

fn detection(name: &str, own: &Own) -> Option<(&'static str, Detection)> {
    if let Some((name, make)) = own.loss_detection(name) {
        return Some((name, Make::Own(make)));
    }
    let listed = loss::find(name)?;
    Some((listed.name, Make::Listed(listed.build)))
}

/// Looks up the algorithms that `given` names.
pub(crate) fn endpoint(given: &plain::Endpoint, own: &Own) -> Result<Recipe, Error> {
    let unknown = |what, name: &str| Error::Unknown {
        what,
        name: name.to_owned(),
    };
    let (of_name, congestion, detects) = match &given.habits.dialect {
        Some(name) => {
            let found = dialects::find(name).ok_or_else(|| unknown("dialect", name))?;
            ((found.build)(), found.congestion, found.loss)
        }
        None => {
            let name = &given.profile;
            let found = profiles::find(name).ok_or_else(|| unknown("profile", name))?;
            ((found.build)(), found.congestion, found.loss)
        }
    };
    let wanted = given.congestion.as_deref().unwrap_or(congestion);
    let loss = given.loss_detection.as_deref().unwrap_or(detects);
    Ok(Recipe {
        config: Arc::new(config(given, of_name)),
        control: control(wanted, own).ok_or_else(|| unknown("congestion control", wanted))?,
        loss: detection(loss, own).ok_or_else(|| unknown("loss detection", loss))?,
        // The scenario's reader has already refused a threshold that no cell uses.
        dupthresh: given.dupthresh.filter(|_| loss == "static"),
    })
}

fn config(given: &plain::Endpoint, profile: Config) -> Config {
    let mut config = profile;
    sizes(given, &mut config);
    switches(given, &mut config);
    styles(given, &mut config);
    habits::apply(&given.habits, &mut config);
    config.acks.delayed = delayed_ack(given, config.acks.delayed);
    config.send.pacing = given.pacing.map_or(config.send.pacing, pacing);
    replace(&mut config.rto.initial, given.rto_initial_ns);
    replace(&mut config.rto.min, given.rto_min_ns);
    config.rto.max = given
        .rto_max_ns
        .unwrap_or(config.rto.max)
        .max(config.rto.min);
    config
}

/// What the scenario gives takes the place of what the profile has.
pub(super) fn replace<T>(kept: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *kept = given;
    }
}

fn sizes(given: &plain::Endpoint, config: &mut Config) {
    replace(&mut config.mss, given.mss);
    replace(&mut config.cwnd.initial, given.initial_window);
    replace(&mut config.cwnd.ssthresh, given.initial_ssthresh);
    replace(&mut config.cwnd.clamp, given.cwnd_clamp);
    replace(&mut config.send.tso_segments, given.tso_segments);
    replace(&mut config.receive.buffer, given.receive_buffer);
    config.receive.autotuning = given.receive_autotuning.or(config.receive.autotuning);
    replace(&mut config.receive.offer, given.receive_offer);
    replace(&mut config.send.buffer, given.send_buffer);
    let memory = |bytes| u32::try_from(bytes).unwrap_or(u32::MAX);
    config.send.autotuning = given.send_autotuning.map(memory).or(config.send.autotuning);
    let scales = given
        .window_scaling
        .unwrap_or(config.options.window_scale.is_some());
    config.options.window_scale = scales.then(|| window_scale(config.receive.buffer));
}

/// The smallest shift with which 16 bits can represent the buffer (RFC 7323 section 2.3; at most 14), but at least 7,
/// which is usual in Linux.
fn window_scale(buffer: u64) -> u8 {
    (7..14)
        .find(|shift| buffer >> shift <= 65_535)
        .unwrap_or(14)
}

fn switches(given: &plain::Endpoint, config: &mut Config) {
    replace(&mut config.options.sack, given.sack);
    replace(&mut config.options.dsack, given.dsack);
    replace(&mut config.options.timestamps, given.timestamps);
    replace(&mut config.options.paws, given.paws);
    replace(&mut config.recovery.frto, given.frto);
    replace(&mut config.cwnd.moderate, given.moderate_cwnd);
    replace(
        &mut config.recovery.forward_retransmit,
        given.forward_retransmit,
    );
    replace(
        &mut config.cwnd.restart_after_idle,
        given.restart_after_idle,
    );
    replace(&mut config.recovery.undo.eifel, given.undo_eifel);
    replace(&mut config.recovery.undo.dsack, given.undo_dsack);
    replace(&mut config.recovery.undo.rfc4015, given.undo_rfc4015);
    departures(given, &mut config.recovery.departures);
    let linux = profiles::linux_6().acks.sack_compression;
    let compression = |on: bool| -> Option<SackCompression> { linux.filter(|_| on) };
    let kept = config.acks.sack_compression;
    config.acks.sack_compression = given.sack_compression.map_or(kept, compression);
}

fn departures(given: &plain::Endpoint, kept: &mut Departures) {
    replace(&mut kept.reenter_at_recover, given.reenter_at_recover);
    replace(
        &mut kept.duplicates_leave_flight,
        given.duplicates_leave_flight,
    );
    replace(&mut kept.grow_when_unused, given.grow_when_unused);
    replace(
        &mut kept.timer_at_first_partial,
        given.timer_at_first_partial,
    );
    replace(&mut kept.first_ack_at_once, given.first_ack_at_once);
    replace(&mut kept.growth_at_end, given.growth_at_end);
}

/// Replaces the profile's settings by those the scenario gives.
fn styles(given: &plain::Endpoint, config: &mut Config) {
    replace(&mut config.ecn.usage, given.ecn);
    config.ecn.ect1 |= given.ecn_codepoint == plain::EcnCodepoint::Ect1;
    replace(&mut config.send.nagle, given.nagle);
    replace(&mut config.rto.style, given.rto_style);
    replace(&mut config.cwnd.growth, given.growth);
    replace(
        &mut config.recovery.limited_transmit,
        given.limited_transmit,
    );
    replace(&mut config.recovery.loss_probe, given.loss_probe);
    replace(&mut config.cwnd.reduction, given.reduction);
}

fn pacing(word: plain::Pacing) -> Option<Pacing> {
    match word {
        plain::Pacing::Off => None,
        plain::Pacing::On => Some(Pacing::default()),
        plain::Pacing::UpTo(bits_per_s) => Some(Pacing::at_most(bits_per_s / 8)),
    }
}

fn delayed_ack(given: &plain::Endpoint, profile: DelayedAck) -> DelayedAck {
    match given.delayed_ack {
        None => profile,
        Some(plain::DelayedAck::Off) => DelayedAck::Off,
        Some(plain::DelayedAck::Rfc) => DelayedAck::Rfc {
            segments: given.delayed_ack_segments,
            timeout: given.delayed_ack_timeout_ns,
        },
        Some(plain::DelayedAck::Linux) => DelayedAck::Linux {
            min: given.delayed_ack_timeout_ns.min(40_000_000),
            max: given.delayed_ack_timeout_ns,
            quick: 16,
        },
    }
}

impl Recipe {
    /// An endpoint with this initial sequence number and this seed for its random numbers.
    pub(crate) fn make(&self, isn: u32, seed: u64) -> Endpoint {
        let numbers = Numbers { isn, seed };
        Endpoint::sharing(
            &self.config,
            numbers,
            self.control.1.make(),
            self.detection(),
        )
    }

    /// The application reads when it is its time, not as soon as data has arrived.
    #[must_use]
    pub(crate) fn reading_itself(mut self) -> Self {
        Arc::make_mut(&mut self.config).receive.read_at_once = false;
        self
    }

    fn detection(&self) -> Box<dyn loss::LossDetection> {
        match self.dupthresh {
            Some(threshold) => Box::new(loss::Static::new(threshold)),
            None => self.loss.1.make(),
        }
    }

    /// The settings of the endpoints.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Name of its congestion control.
    pub(crate) fn congestion(&self) -> &'static str {
        self.control.0
    }

    /// Name of its loss detection.
    pub(crate) fn loss_detection(&self) -> &'static str {
        self.loss.0
    }
}
