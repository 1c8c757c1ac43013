//! Compares the scoreboard with a twin that scans everything each time.

use proptest::prelude::*;

use super::*;

/// The straightforward twin: no cursors, no interval set, no counts.
#[derive(Debug, Default)]
struct Twin {
    records: Vec<(Id, Sent)>,
    received: Vec<bool>,
    highest_sacked: Id,
    next: Id,
}

impl Twin {
    fn sack(&mut self, start: Seq, end: Seq) -> Vec<Id> {
        if self.received.len() < end as usize {
            self.received.resize(end as usize, false);
        }
        let before = self.received.clone();
        for slot in &mut self.received[(start.min(end)) as usize..end as usize] {
            *slot = true;
        }
        let mut new = Vec::new();
        for (id, record) in &mut self.records {
            let has = |map: &[bool], seq: Seq| map.get(seq as usize) == Some(&true);
            let whole = (record.start..record.end).all(|seq| has(&self.received, seq));
            // A range without the part SACKed before contains nothing new.
            let news = (record.start..record.end).any(|seq| !has(&before, seq));
            if whole && news && !record.sacked {
                record.sacked = true;
                record.lost = false;
                record.retrans = false;
                self.highest_sacked = self.highest_sacked.max(*id + 1);
                new.push(*id);
            }
        }
        new
    }

    fn acknowledge(&mut self, una: Seq) -> Vec<Id> {
        let fresh = |record: &Sent| record.end <= una && !record.sacked;
        let list = self.records.iter().filter(|(_, r)| fresh(r));
        let new = list.map(|(id, _)| *id).collect();
        self.records.retain(|(_, record)| record.end > una);
        if let Some((_, front)) = self.records.first_mut() {
            front.start = front.start.max(una);
        }
        new
    }

    fn sacked_above(&self, id: Id) -> u32 {
        self.count(|other, record| other > id && record.sacked)
    }

    fn count(&self, mut which: impl FnMut(Id, &Sent) -> bool) -> u32 {
        self.records.iter().filter(|(id, r)| which(*id, r)).count() as u32
    }

    fn mark(&mut self, mut which: impl FnMut(&Self, usize, Id) -> bool) {
        let list: Vec<usize> = (0..self.records.len())
            .filter(|&at| which(self, at, self.records[at].0))
            .collect();
        for at in list {
            let record = &mut self.records[at].1;
            record.lost |= !record.sacked;
        }
    }

    fn next_lost(&self) -> Option<Id> {
        let waiting = |record: &Sent| record.lost && !record.retrans;
        self.records
            .iter()
            .find(|(_, r)| waiting(r))
            .map(|(id, _)| *id)
    }

    fn oldest(&self) -> Option<Id> {
        let waiting = self.records.iter().filter(|(_, record)| record.waits());
        waiting
            .min_by_key(|(_, record)| (record.sent_at, record.end))
            .map(|(id, _)| *id)
    }
}

#[derive(Debug, Clone)]
enum Step {
    Send(u64),
    Sack(u64, u64),
    Acknowledge(u64),
    Threshold(u32),
    First(u32),
    Retransmit,
    LoseOldest,
    Timeout,
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1u64..4).prop_map(Step::Send),
        6 => (0u64..40, 1u64..9).prop_map(|(a, b)| Step::Sack(a, b)),
        3 => (0u64..9).prop_map(Step::Acknowledge),
        2 => (1u32..5).prop_map(Step::Threshold),
        1 => (1u32..6).prop_map(Step::First),
        4 => Just(Step::Retransmit),
        2 => Just(Step::LoseOldest),
        1 => Just(Step::Timeout),
        1 => Just(Step::Undo),
    ]
}

fn record(start: Seq, end: Seq, now: Nanos) -> Sent {
    Sent {
        start,
        end,
        sent_at: now,
        first_sent_at: now,
        cwnd: 1,
        tsval: 0,
        transmissions: 1,
        sacked: false,
        lost: false,
        retrans: false,
        syn: false,
        fin: false,
    }
}

/// Applies the step to both, and compares the results.
fn apply(
    board: &mut Board,
    twin: &mut Twin,
    step: &Step,
    now: Nanos,
    nxt: &mut Seq,
    una: &mut Seq,
) {
    let mut delivered = Vec::new();
    match *step {
        Step::Send(length) => {
            board.push(record(*nxt, *nxt + length, now));
            twin.records
                .push((twin.next, record(*nxt, *nxt + length, now)));
            twin.next += 1;
            *nxt += length;
        }
        Step::Sack(at, length) => {
            let start = (*una + at).min(*nxt);
            let end = (start + length).min(*nxt);
            let base = board.front_id();
            board.sack(start, end, &mut delivered);
            let ids: Vec<Id> = delivered
                .iter()
                .map(|d| base + u64::from(d.index))
                .collect();
            assert_eq!(ids, twin.sack(start, end));
        }
        Step::Acknowledge(length) => {
            *una = (*una + length).min(*nxt);
            let base = board.front_id();
            board.acknowledge(*una, &mut delivered);
            let ids: Vec<Id> = delivered
                .iter()
                .map(|d| base + u64::from(d.index))
                .collect();
            assert_eq!(ids, twin.acknowledge(*una));
        }
        Step::Threshold(threshold) => {
            board.mark_by_threshold(threshold);
            twin.mark(|twin, _, id| twin.sacked_above(id) >= threshold);
        }
        Step::First(count) => {
            board.mark_first(count);
            twin.mark(|_, at, _| at < count as usize);
        }
        Step::Retransmit => {
            let next = board.next_lost();
            assert_eq!(next, twin.next_lost());
            if let Some(id) = next {
                board.retransmit(id, now, 0, 1);
                let (_, record) = twin.records.iter_mut().find(|(at, _)| *at == id).unwrap();
                record.retrans = true;
                record.transmissions += 1;
                record.sent_at = now;
            }
        }
        Step::LoseOldest => {
            let oldest = board.oldest_outstanding().map(|(id, _)| id);
            assert_eq!(oldest, twin.oldest());
            if let Some(id) = oldest {
                assert!(board.mark_lost(id));
                let (_, record) = twin.records.iter_mut().find(|(at, _)| *at == id).unwrap();
                record.lost = true;
                record.retrans = false;
            }
        }
        Step::Timeout => {
            let renege = board.front().is_some_and(|front| front.sacked);
            board.mark_all_lost(renege);
            if renege {
                twin.received.clear();
                twin.highest_sacked = 0;
            }
            for (_, record) in &mut twin.records {
                record.sacked &= !renege;
                record.retrans = false;
                record.lost = !record.sacked;
            }
        }
        Step::Undo => {
            board.clear_lost();
            for (_, record) in &mut twin.records {
                record.lost = false;
            }
        }
    }
}

proptest! {
    #[test]
    fn equals_a_full_scan(steps in prop::collection::vec(step(), 1..120)) {
        let (mut board, mut twin) = (Board::default(), Twin::default());
        let (mut nxt, mut una) = (0, 0);
        for (now, step) in steps.iter().enumerate() {
            apply(&mut board, &mut twin, step, now as i64 + 1, &mut nxt, &mut una);
            prop_assert_eq!(board.packets_out(), twin.records.len() as u32);
            prop_assert_eq!(board.sacked_out(), twin.count(|_, r| r.sacked));
            prop_assert_eq!(board.lost_out(), twin.count(|_, r| r.lost));
            prop_assert_eq!(board.retrans_out(), twin.count(|_, r| r.retrans));
            prop_assert_eq!(board.fackets_out(), twin.count(|id, _| id < twin.highest_sacked));
            prop_assert_eq!(board.next_lost(), twin.next_lost());
            prop_assert_eq!(board.oldest_outstanding().map(|(id, _)| id), twin.oldest());
            for (id, record) in &twin.records {
                prop_assert_eq!(board.get(*id), Some(record));
            }
        }
    }
}
