//! Accurate ECN (RFC 9768) between two endpoints: what the receiver counts reaches the sender exactly, and both ends find
//! the feedback that the other end and the path support.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use inorder_base::random::Random;
use inorder_tcp::config::{AccurateEcn, EcnOptionUse, EcnUse, MS, SECOND};
use inorder_tcp::{Config, Departure, Ecn, Endpoint, Flags, Nanos, Pair, Side};

const BYTES: u64 = 3_000_000;
/// The bit of ECN in `Endpoint::options`.
const ECN: u8 = 8;

fn config(ecn: EcnUse, option: EcnOptionUse) -> Config {
    Config::default().with(|config| {
        config.ecn.usage = ecn;
        config.ecn.accurate = AccurateEcn {
            option,
            ..AccurateEcn::default()
        };
    })
}

fn pair(
    client: &Config,
    server: &Config,
    congestion: &str,
    fate: impl FnMut(Departure<'_>, &mut Vec<Nanos>) + Send + 'static,
) -> Pair {
    let end = |config| Endpoint::with_names(config, congestion, "linux").expect("known names");
    Pair::new(end(client), end(server), 10 * MS).with_fate(fate)
}

/// Lets routers mark a share of the client's data and lose a share of the server's segments; returns the client's count of
/// marks, how many there were, and the client.
fn marked_transfer(option: EcnOptionUse, seed: u64, lost: f64) -> (u32, u32, Pair) {
    let both = config(EcnUse::Accurate, option);
    let marks = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&marks);
    let mut random = Random::new(seed, "marks");
    let mut pair = pair(&both, &both, "reno", move |departure, copies| {
        let segment = departure.segment;
        let draw = random.unit();
        let closing = segment.flags.has(Flags::FIN);
        match departure.from {
            Side::Client if segment.payload > 0 && draw < 0.05 => {
                assert_eq!(segment.ecn, Ecn::Capable0);
                segment.ecn = Ecn::Congestion;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Side::Server if !closing && departure.index > 2 && draw < lost => return,
            _ => {}
        }
        copies.push(0);
    });
    assert_eq!(pair.transfer(BYTES, 600 * SECOND), BYTES);
    let counted = pair.client.info().marks.delivered_ce;
    (counted, marks.load(Ordering::Relaxed), pair)
}

#[test]
fn every_mark_is_counted() {
    for option in [
        EcnOptionUse::Always,
        EcnOptionUse::Demand,
        EcnOptionUse::Never,
    ] {
        let (counted, marks, pair) = marked_transfer(option, 1, 0.0);
        assert!(marks > 20, "{marks}");
        assert_eq!(counted, marks, "{option:?}");
        assert_eq!(pair.client.options() & ECN, ECN);
        assert_eq!(pair.client.counters().sent.retrans_segs, 0);
    }
}

/// If acknowledgements are lost, the flags alone leave a multiple of eight open; the counters of bytes decide.
#[test]
fn the_option_survives_lost_acknowledgements() {
    for seed in 0..20 {
        let (counted, marks, pair) = marked_transfer(EcnOptionUse::Always, seed, 0.4);
        // Repetitions of what is acknowledged already are outside the window, and not counted.
        let arrived = pair.server.info().marks.received_ce;
        assert_eq!(counted, arrived, "seed {seed}");
        assert!(
            arrived <= marks && arrived * 10 > marks * 9,
            "{arrived} of {marks}"
        );
        let info = pair.client.info();
        let all = info.marks.delivered_ce_bytes + info.marks.delivered_e0_bytes;
        assert!(u64::from(all) >= BYTES, "{all}");
    }
}

/// Ten marks in one flight of some 80 segments: the window is halved once, not for every mark.
#[test]
fn the_window_is_reduced_once_per_round_trip() {
    let both = config(EcnUse::Accurate, EcnOptionUse::Always);
    let mut pair = pair(&both, &both, "reno", |departure, copies| {
        if departure.from == Side::Client && (90..100).contains(&departure.data_index) {
            departure.segment.ecn = Ecn::Congestion;
        }
        copies.push(0);
    });
    assert_eq!(pair.transfer(300_000, 60 * SECOND), 300_000);
    let info = pair.client.info();
    assert_eq!(info.marks.delivered_ce, 10);
    assert!((30..=80).contains(&info.ssthresh), "{}", info.ssthresh);
    assert_eq!(pair.client.counters().recoveries.fast_recoveries, 0);
}

/// DCTCP measures the share of marks; with counters it needs no special echo of the receiver.
#[test]
fn dctcp_reads_the_share_of_marks() {
    let both = config(EcnUse::Accurate, EcnOptionUse::Always);
    let mut random = Random::new(5, "marks");
    let mut pair = pair(&both, &both, "dctcp", move |departure, copies| {
        let data = departure.segment.payload > 0;
        if data && departure.from == Side::Client && random.unit() < 0.25 {
            departure.segment.ecn = Ecn::Congestion;
        }
        copies.push(0);
    });
    assert_eq!(pair.transfer(BYTES, 600 * SECOND), BYTES);
    let mut alpha = 0.0;
    pair.client.congestion().trace(&mut |name, value| {
        if name == "alpha" {
            alpha = value;
        }
    });
    assert!((0.15..0.35).contains(&alpha), "{alpha}");
}

/// What the two ends agree on, and how the client's data is marked then.
fn agreed(client: EcnUse, server: EcnUse) -> (bool, bool, Ecn) {
    let (client, server) = (
        config(client, EcnOptionUse::Always),
        config(server, EcnOptionUse::Always),
    );
    let field = Arc::new(AtomicU32::new(0));
    let options = Arc::new(AtomicU32::new(0));
    let (seen, with_option) = (Arc::clone(&field), Arc::clone(&options));
    let mut pair = pair(&client, &server, "reno", move |departure, copies| {
        let segment = departure.segment;
        if departure.from == Side::Client && segment.payload > 0 {
            seen.store(u32::from(segment.ecn == Ecn::Capable0), Ordering::Relaxed);
            with_option.store(u32::from(segment.ecn_option.is_some()), Ordering::Relaxed);
        }
        copies.push(0);
    });
    assert_eq!(pair.transfer(BYTES, 600 * SECOND), BYTES);
    let on = pair.client.options() & ECN != 0;
    let capable = match field.load(Ordering::Relaxed) {
        0 => Ecn::NotCapable,
        _ => Ecn::Capable0,
    };
    (on, options.load(Ordering::Relaxed) > 0, capable)
}

#[test]
fn the_ends_find_what_both_support() {
    use EcnUse::{Accept, AcceptAccurate, Accurate, Off, Request, RequestAcceptAccurate};
    let accurate = (true, true, Ecn::Capable0);
    let classic = (true, false, Ecn::Capable0);
    let none = (false, false, Ecn::NotCapable);
    let table = [
        (Accurate, Accurate, accurate),
        (Accurate, AcceptAccurate, accurate),
        (Accurate, RequestAcceptAccurate, accurate),
        (Accurate, Accept, classic),
        (Accurate, Request, classic),
        (Accurate, Off, none),
        (Request, Accurate, classic),
        (Request, AcceptAccurate, classic),
        (RequestAcceptAccurate, Accurate, classic),
        (AcceptAccurate, Accurate, none),
        (Accept, Accurate, none),
        (Off, Accurate, none),
    ];
    for (client, server, expected) in table {
        assert_eq!(agreed(client, server), expected, "{client:?} to {server:?}");
    }
}

/// Changes every segment in transit; returns whether data was sent ECN-capable, and the share of the stream that arrived.
fn through(change: fn(&mut Departure<'_>)) -> (bool, u64) {
    let both = config(EcnUse::Accurate, EcnOptionUse::Always);
    let capable = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&capable);
    let mut pair = pair(&both, &both, "reno", move |mut departure, copies| {
        let data = departure.from == Side::Client && departure.segment.payload > 0;
        if data && departure.segment.ecn != Ecn::NotCapable {
            seen.fetch_add(1, Ordering::Relaxed);
        }
        change(&mut departure);
        copies.push(0);
    });
    let arrived = pair.transfer(BYTES, 600 * SECOND);
    (capable.load(Ordering::Relaxed) > 0, arrived)
}

#[test]
fn a_path_that_interferes_ends_ecn_and_not_the_connection() {
    let clears_flags = |departure: &mut Departure<'_>| {
        departure.segment.flags = departure.segment.flags.with_ace(0);
    };
    assert_eq!(through(clears_flags), (false, BYTES));
    // The third bit alone: the request becomes a classic one.
    let clears_ae = |departure: &mut Departure<'_>| {
        departure.segment.flags = departure.segment.flags.without(Flags::AE);
    };
    assert_eq!(through(clears_ae), (true, BYTES));
    let clears_option = |departure: &mut Departure<'_>| departure.segment.ecn_option = None;
    assert_eq!(through(clears_option), (true, BYTES));
    let marks_all = |departure: &mut Departure<'_>| departure.segment.ecn = Ecn::Congestion;
    assert_eq!(through(marks_all), (false, BYTES));
    let clears_field = |departure: &mut Departure<'_>| departure.segment.ecn = Ecn::NotCapable;
    assert_eq!(through(clears_field), (true, BYTES));
}

/// Counters that zero on the way are not read, and the flags still count.
#[test]
fn a_cleared_option_is_not_believed() {
    let zeros = |departure: &mut Departure<'_>| {
        if let Some(option) = &mut departure.segment.ecn_option {
            let kind = option.kind() == 174;
            *option = inorder_tcp::EcnOption::new(kind, &[0, 0, 0]);
        }
    };
    assert_eq!(through(zeros), (true, BYTES));
}
