//! Real stacks over a relay whose truth is known (testdata/quic, made by `validation/quic/run --floors`): what both logs say is what was on the wire.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use inorder_qlog::{Connection, Report, join, read};

/// A packet of the server, as the relay saw it.
struct Truth {
    has_arrived: bool,
    /// By how much the highest number that had arrived before was higher.
    overtaken: u64,
    /// The least packet threshold that waits for its acknowledgement, if one came.
    needed_packets: Option<u64>,
}

fn open(name: &str) -> GzDecoder<File> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/quic");
    let path = folder.join(format!("{name}.gz"));
    GzDecoder::new(File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Client and server, joined.
fn ends(stack: &str) -> [Report; 2] {
    let log = |end: &str| read(open(&format!("{stack}.{end}.qlog"))).unwrap();
    let mut all: Vec<Connection> = log("client").into_iter().chain(log("server")).collect();
    join(&mut all);
    assert_eq!(all.len(), 2, "{stack}");
    [all[0].report(), all[1].report()]
}

/// The server's packets of application data, by number.
fn truth(stack: &str) -> HashMap<u64, Truth> {
    let mut text = String::new();
    open(&format!("{stack}.truth.csv"))
        .read_to_string(&mut text)
        .unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let at = |name: &str| names.iter().position(|column| *column == name).unwrap();
    let of_server =
        |row: &Vec<&str>| row[at("direction")] == "to-client" && row[at("space")] == "application";
    let truth = |row: &Vec<&str>| Truth {
        has_arrived: !row[at("arrived_ns")].is_empty(),
        overtaken: row[at("overtaken")].parse().unwrap_or(0),
        needed_packets: row[at("needed_packets")].parse().ok(),
    };
    lines
        .filter(of_server)
        .map(|row| (row[at("number")].parse().unwrap(), truth(&row)))
        .collect()
}

#[track_caller]
fn check(stack: &str, declared: usize) -> Report {
    let ([client, server], truth) = (ends(stack), truth(stack));
    let losses = || {
        server
            .losses
            .iter()
            .filter(|loss| loss.space == "application")
    };
    assert_eq!(losses().count(), declared, "{stack}");
    for loss in losses() {
        let packet = &truth[&loss.number];
        let has_come = loss.delivered == Some(true) || loss.dropped == Some(true);
        assert_eq!(has_come, packet.has_arrived, "{stack} {}", loss.number);
        if let (Some(said), Some(exact)) = (loss.needed_packets, packet.needed_packets) {
            let is_right = match said.at_most {
                true => said.packets >= exact,
                false => said.packets == exact,
            };
            assert!(is_right, "{stack} {}: {said:?}, {exact}", loss.number);
        }
    }
    let late = truth.values().filter(|packet| packet.overtaken > 0).count();
    assert_eq!(client.arrivals.order.reordered, late as u64, "{stack}");
    let last = truth
        .iter()
        .filter(|(_, packet)| packet.has_arrived)
        .map(|(number, _)| *number)
        .max()
        .unwrap();
    let lost = truth
        .iter()
        .filter(|(number, packet)| **number < last && !packet.has_arrived);
    assert_eq!(
        client.arrivals.missing,
        Some(lost.count() as u64),
        "{stack}"
    );
    server
}

/// The reasons are those that the log has, although it has each acknowledgement behind the losses that follow from it.
#[test]
fn quic_go() {
    let declared = check("quic-go", 5).declared;
    assert_eq!((declared.by_packets, declared.by_time), (1, 4));
}

#[test]
fn aioquic() {
    check("aioquic", 11);
}

#[test]
fn quinn() {
    check("quinn", 9);
}

#[test]
fn golang_org_x_net() {
    check("x-net", 9);
}

#[test]
fn ngtcp2() {
    check("ngtcp2", 9);
}
