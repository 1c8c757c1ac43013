//! The end of a connection.

use inorder_wire::{Complaint, Dir, FlowKey, Segment};

use super::Connection;
use crate::config::Config;
use crate::flow_table::FlowTable;
use crate::result::{Closing, Host, Silence};
use crate::side::{End, Side, Times};

/// Number of packets that may be out of order by more.
const MAX_TOLERATED_DISORDERED: u32 = 2;

impl Connection {
    /// The reports on the directions that carried data.
    pub(crate) fn finish(&mut self, config: &Config, out: &mut FlowTable) {
        self.end_replay();
        out.note_time(self.head.last_ns);
        let packets = self.head.waiting.len();
        self.release(config);
        if self.head.common.followed == [false; 2] {
            self.attempt(packets)
                .into_iter()
                .for_each(|a| out.push_attempt(a));
            return;
        }
        self.pass_complaints();
        self.pass_replayed();
        for dir in [Dir::LowToHigh, Dir::HighToLow] {
            if !self.head.common.followed[dir.index()] {
                continue;
            }
            let Some(end) = self.end_of(dir, config) else {
                return;
            };
            let key = self.head.key;
            if let Some(sides) = &mut self.sides {
                sides[dir.index()].finish(&key, dir, &end, out);
            }
        }
    }

    /// Each direction gets the ICMP messages about its segments.
    fn pass_complaints(&mut self) {
        let Some(sides) = &mut self.sides else {
            return;
        };
        for (dir, side) in [Dir::LowToHigh, Dir::HighToLow]
            .into_iter()
            .zip(&mut **sides)
        {
            let all = self.head.complaints.iter().flat_map(|all| &**all);
            let about: Vec<Complaint> = all.filter(|c| c.0 == dir).map(|c| c.1).collect();
            if !about.is_empty() {
                side.note_complaints(&about);
            }
        }
    }

    /// What is known of the connection at its end, for the report on the data that goes `dir`.
    fn end_of(&self, dir: Dir, config: &Config) -> Option<End> {
        let (head, common) = (&self.head, &self.head.common);
        let position = &common.position;
        let sides = self.sides.as_deref()?;
        let receiver = &sides[dir.reverse().index()];
        let answered = common.acks != [false; 2];
        Some(End {
            shared: common.find_shared(sides, dir),
            choice: position.choose(dir, config.vantage, answered),
            reuse: head.reuse,
            first_ns: head.first_ns,
            last_ns: head.last_ns,
            blocks_hidden: receiver.blocks_hidden(),
            sack_seen: receiver.shows_sack(),
            answered: position.heard(dir.reverse())
                || config.hosts.is_beside_receiver(&head.key, dir),
            times: self.times(dir),
            syn_seen: common.hellos[dir.index()].is_some(),
            opened_ns: self.opened_ns(dir),
            unscaled: self.is_unscaled(),
            handshake: self.handshake(dir),
            closing: Closing {
                silence: self.silence(dir),
                ..common
                    .closing
                    .as_deref()
                    .map_or_else(Closing::default, |end| end.of(dir))
            },
            refused_ns: common
                .closing
                .as_deref()
                .and_then(|end| end.refused_ns(dir)),
            given_up_ns: common
                .closing
                .as_deref()
                .and_then(|end| end.given_up_ns(dir)),
            unheard: common
                .closing
                .as_deref()
                .is_some_and(|end| end.is_unheard(dir)),
            receiver_identification: receiver.identification(),
            answers_duplicated: match common.followed[dir.reverse().index()] {
                // They count in the report on the data that goes the other way.
                true => 0,
                false => receiver.duplicated(),
            },
        })
    }

    fn times(&self, dir: Dir) -> Times {
        let (head, position) = (&self.head, &self.head.common.position);
        let ahead_ns = position.ahead_ns().zip(head.contradicted_ns());
        Times {
            in_batches: head.in_batches,
            disorder: head.disordered > MAX_TOLERATED_DISORDERED || position.out_of_order(),
            ahead_ns: ahead_ns.map(|(ahead, contradicted)| ahead.max(contradicted)),
            reversals: head.reversals[dir.index()],
            leaps: self.leaps_before(dir),
            foreign: self.foreign_to(dir),
        }
    }

    /// The unanswered keep-alives of the data's sender or, if that data alone was followed, of its receiver.
    fn silence(&self, dir: Dir) -> Option<Silence> {
        let (host, silence) = self.head.common.alive.as_deref()?.silence()?;
        if self.head.common.fins[host.reverse().index()] {
            return None; // The other host has closed, and knows nothing of the connection any more.
        }
        let own = host == dir || !self.head.common.followed[host.index()];
        let by = if host == dir {
            Host::Sender
        } else {
            Host::Receiver
        };
        own.then_some(Silence { by, ..silence })
    }

    /// How often the clock was set forward before a packet of the data that goes `dir`, or of its acknowledgements.
    fn leaps_before(&self, dir: Dir) -> u64 {
        let leaps = self.head.leaps.map(u64::from);
        let other = dir.reverse().index();
        // Those before other data count in the report on that.
        let answers = if self.head.common.followed[other] {
            0
        } else {
            leaps[other]
        };
        leaps[dir.index()] + answers
    }

    /// The report on a connection of which `seg` is the only packet: none has to wait for what others say.
    pub(crate) fn finish_single(
        key: FlowKey,
        dir: Dir,
        seg: &Segment,
        config: &Config,
        out: &mut FlowTable,
    ) {
        let mut connection = Connection::new(key, 0, seg.ts_ns, config);
        let key = &connection.head.key;
        connection
            .sides
            .get_or_insert_with(|| Side::both(key, config));
        connection.push_seldom(dir, seg, config);
        connection.finish(config, out);
    }
}
