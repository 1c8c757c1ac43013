//! Which two logs are of the two ends of one connection, and what one end learns from the log of the other.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use inorder_base::named;

use crate::arrivals::Unused;
use crate::connection::Connection;
use crate::event::SPACES;
use crate::space::Space;

/// Maximum number of pairs of ends that are compared by numbers and times; if there are more, none is.
const MAX_PAIRS: usize = 1 << 14;

/// Fewer packets in common prove nothing.
const MIN_COMMON: usize = 8;

/// One in so many packets that arrived may lack in the log of the end that sent it.
const MAX_UNSENT: usize = 100;

/// The next best pair has to be worse by this factor, and by the time in which ends process packets, nanoseconds.
const MARGIN: f64 = 1.5;
const PROCESSING_NS: f64 = 1e6;

named! {
    /// How two logs were found to be of one connection.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum JoinedBy {
        /// They name the same connection identifier.
        Identifier = "identifier",
        /// There is one connection at each end, and what arrived at one was sent by the other.
        OnlyTwo = "only-two",
        /// What arrived at one end was sent by the other, at times that no other pair explains as well.
        NumbersAndTimes = "numbers-and-times",
    }
}

/// Numbers that arrived, each with the highest one before it.
type Arrived = HashMap<u64, Option<u64>>;

/// What the log of the other end says.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) joined_by: JoinedBy,
    /// What it received and processed, by space.
    pub(crate) arrived: [Arrived; SPACES],
    /// What it dropped as duplicates and never processed, by space.
    pub(crate) dropped: [HashSet<u64>; SPACES],
    /// When application data arrived there, by its clock, and how many bytes.
    pub(crate) data: Vec<(i64, u64)>,
    /// Numbers of application data that it did not use.
    pub(crate) unused: Unused,
}

/// Joins the two ends of each connection: traces with the same identifier, the only two, or those whose numbers and times
/// agree.
pub fn join(connections: &mut [Connection]) {
    let mut pairs = by_identifier(connections);
    let joined: HashSet<usize> = pairs.iter().flat_map(|(i, j, _)| [*i, *j]).collect();
    pairs.extend(by_packets(connections, &joined));
    for (i, j, by) in pairs {
        for (me, other) in [(i, j), (j, i)] {
            // Only the log itself of the other end is read, not what that end has heard.
            let mut mine = std::mem::take(&mut connections[me]);
            mine.hear(&connections[other], by);
            connections[me] = mine;
        }
    }
}

/// Pairs of indices with the same identifier; each connection is in one pair.
fn by_identifier(connections: &[Connection]) -> Vec<(usize, usize, JoinedBy)> {
    /// Ends with the same identifier that are in no pair yet.
    #[derive(Default)]
    struct Waiting {
        clients: VecDeque<usize>,
        servers: VecDeque<usize>,
    }
    let mut waiting: HashMap<String, Waiting> = HashMap::new();
    let mut pairs = Vec::new();
    for (i, connection) in connections.iter().enumerate() {
        if connection.id.is_empty() {
            continue;
        }
        let same = waiting
            .entry(connection.id.to_ascii_lowercase())
            .or_default();
        let (alike, opposite) = match connection.vantage() {
            "client" => (&mut same.clients, &mut same.servers),
            "server" => (&mut same.servers, &mut same.clients),
            _ => continue,
        };
        match opposite.pop_front() {
            Some(other) => pairs.push((other, i, JoinedBy::Identifier)),
            None => alike.push_back(i),
        }
    }
    pairs
}

/// Pairs among the rest whose numbers and times agree.
fn by_packets(
    connections: &[Connection],
    joined: &HashSet<usize>,
) -> Vec<(usize, usize, JoinedBy)> {
    let end = |name: &str| -> Vec<usize> {
        let of_end = |i: &usize| !joined.contains(i) && connections[*i].vantage() == name;
        (0..connections.len()).filter(of_end).collect()
    };
    let (clients, servers) = (end("client"), end("server"));
    if let ([client], [server], 2) = (&*clients, &*servers, connections.len()) {
        let fits = is_possible(&connections[*client], &connections[*server]);
        return fits
            .then_some((*client, *server, JoinedBy::OnlyTwo))
            .into_iter()
            .collect();
    }
    if clients.len().saturating_mul(servers.len()) > MAX_PAIRS {
        return Vec::new();
    }
    let all = clients
        .iter()
        .flat_map(|c| servers.iter().map(|s| (*c, *s)));
    let mut found: Vec<(f64, usize, usize)> = all
        .filter_map(|(c, s)| Some((disagreement(&connections[c], &connections[s])?, c, s)))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pairs = Vec::new();
    // The best pair first; the others of its two ends are then out of the question, if they are clearly worse.
    while let Some(&(best, client, server)) = found.first() {
        let limit = best * MARGIN + PROCESSING_NS;
        let shares_end = |&(_, c, s): &(f64, usize, usize)| c == client || s == server;
        let is_clear = !found
            .iter()
            .skip(1)
            .any(|pair| shares_end(pair) && pair.0 <= limit);
        if is_clear {
            pairs.push((client, server, JoinedBy::NumbersAndTimes));
        }
        found.retain(|pair| !shares_end(pair));
    }
    pairs
}

/// False if more than a few packets arrived at one end that the other never sent.
fn is_possible(client: &Connection, server: &Connection) -> bool {
    [(client, server), (server, client)]
        .iter()
        .all(|(from, to)| {
            let spaces = || from.spaces.iter().zip(&to.spaces);
            let arrived: usize = spaces().map(|(_, there)| there.received.len()).sum();
            let unsent: usize = spaces().map(|(sent, there)| unsent(sent, there)).sum();
            unsent * MAX_UNSENT <= arrived
        })
}

/// How many packets arrived that the log of the sender lacks although it has earlier and later ones.
fn unsent(sent: &Space, there: &Space) -> usize {
    let ends = sent.sent.first_key_value().zip(sent.sent.last_key_value());
    let Some(((first, _), (last, _))) = ends else {
        return 0;
    };
    let numbers = there.received.iter().map(|packet| packet.number);
    numbers
        .filter(|number| (first..=last).contains(&number) && !sent.sent.contains_key(number))
        .count()
}

/// How much the times of two ends disagree, nanoseconds; `None` if they cannot be those of one connection.
///
/// The clocks of the ends differ by an unknown time, which is added to the delays of one direction and taken from those of
/// the other. Together the least delays are the least round trip, and the delays vary by what queues do. Of another
/// connection, packets with the same numbers were sent at other times.
fn disagreement(client: &Connection, server: &Connection) -> Option<f64> {
    if !is_possible(client, server) {
        return None;
    }
    let mut there = delays(client, server);
    let mut back = delays(server, client);
    if there.len() + back.len() < MIN_COMMON {
        return None;
    }
    let (least_there, usual_there) = least_and_median(&mut there)?;
    let (least_back, usual_back) = least_and_median(&mut back)?;
    let round_trip = (least_there + least_back) as f64;
    let measured = [client.least_ns, server.least_ns].into_iter().flatten();
    let measured = measured.min().map(|ns| ns as f64);
    let off = measured.map_or(0.0, |measured| (round_trip - measured).abs());
    // Logs in whole milliseconds are off by one each way.
    let is_sane = round_trip >= -2.0 * PROCESSING_NS
        && measured.is_none_or(|measured| off <= measured + 10.0 * PROCESSING_NS);
    let varies = (usual_there - least_there) + (usual_back - least_back);
    is_sane.then_some(off + varies as f64)
}

/// Time of the first arrival of each packet less the time of its sending, by two clocks, nanoseconds.
fn delays(from: &Connection, to: &Connection) -> Vec<i64> {
    let mut all = Vec::new();
    for (sent, there) in from.spaces.iter().zip(&to.spaces) {
        let mut first = HashSet::new();
        for packet in &there.received {
            if let Some(sent) = sent.sent.get(&packet.number)
                && first.insert(packet.number)
            {
                all.push(packet.at_ns.saturating_sub(sent.at_ns));
            }
        }
    }
    all
}

fn least_and_median(values: &mut [i64]) -> Option<(i64, i64)> {
    let middle = values.len().checked_sub(1)? / 2;
    let median = *values.select_nth_unstable(middle).1;
    Some((*values.iter().min()?, median))
}

impl Connection {
    /// Tells this end what the other one sent and received.
    fn hear(&mut self, other: &Connection, joined_by: JoinedBy) {
        const DATA: usize = SPACES - 1;
        for (mine, theirs) in self.spaces.iter_mut().zip(&other.spaces) {
            acknowledgeable(mine, theirs);
        }
        let data = other.spaces[DATA].processed();
        self.heard = Some(Box::new(Heard {
            joined_by,
            arrived: std::array::from_fn(|space| arrived(&other.spaces[space])),
            dropped: std::array::from_fn(|space| dropped(&other.spaces[space])),
            data: data.map(|packet| (packet.at_ns, packet.bytes)).collect(),
            unused: Unused::of(&other.spaces[DATA].sent, &self.spaces[DATA].received),
        }));
    }
}

fn arrived(space: &Space) -> Arrived {
    let (mut arrived, mut largest) = (Arrived::new(), None);
    for packet in space.processed() {
        arrived.entry(packet.number).or_insert(largest);
        largest = largest.max(Some(packet.number));
    }
    arrived
}

fn dropped(space: &Space) -> HashSet<u64> {
    let processed: HashSet<u64> = space.processed().map(|packet| packet.number).collect();
    let dropped = space.received.iter().filter(|packet| packet.dropped);
    dropped
        .map(|packet| packet.number)
        .filter(|number| !processed.contains(number))
        .collect()
}

/// Notes for each declared loss the highest number that an acknowledgement can have contained by then: what the other end
/// had when it sent the last packet that had come from it.
fn acknowledgeable(mine: &mut Space, theirs: &Space) {
    // The highest number that had arrived there, whenever it rose.
    let mut rises: Vec<(i64, u64)> = Vec::new();
    for packet in theirs.processed() {
        if rises
            .last()
            .is_none_or(|(_, highest)| packet.number > *highest)
        {
            rises.push((packet.at_ns, packet.number));
        }
    }
    let highest_at = |at_ns: i64| {
        let risen = rises.partition_point(|(rose_ns, _)| *rose_ns <= at_ns);
        risen.checked_sub(1).and_then(|i| rises.get(i))
    };
    let sent: &BTreeMap<_, _> = &theirs.sent;
    for lost in mine.lost.values_mut() {
        let last = lost.heard.and_then(|number| sent.get(&number));
        lost.acknowledgeable = last.map(|last| highest_at(last.at_ns).map_or(0, |(_, n)| *n));
    }
}
