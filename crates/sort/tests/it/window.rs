//! The reordering window: traces, and its dumb twin, which searches vectors and never wraps.

use inorder_sort::{AnySorter, Kind, Meta, Sorter, SorterConfig, Surroundings};
use proptest::prelude::*;

fn window(text: &str) -> AnySorter<u32, usize> {
    let config: SorterConfig = text.parse().unwrap();
    config.build(&Surroundings::default()).unwrap()
}

/// Pushes packets `(time, sequence number)` of one byte each; what came out, by number.
fn run(sorter: &mut AnySorter<u32, usize>, packets: &[(i64, usize)]) -> Vec<usize> {
    let mut up = Vec::new();
    for &(now_ns, seq) in packets {
        let meta = Meta::data(1, seq as u32, 1);
        sorter.push(&meta, seq, now_ns, &mut |p| up.push(p));
    }
    up
}

#[test]
fn what_is_in_order_passes_and_what_is_above_a_gap_waits_for_it() {
    let mut sorter = window("window:hold=100ns");
    assert_eq!(run(&mut sorter, &[(0, 1), (1, 2), (2, 5), (3, 4)]), [1, 2]);
    assert_eq!((sorter.held(), sorter.next_deadline_ns()), (2, Some(102)));
    assert_eq!(run(&mut sorter, &[(4, 3)]), [3, 4, 5]);
    assert_eq!((sorter.held(), sorter.next_deadline_ns()), (0, None));
}

#[test]
fn after_the_hold_gaps_are_given_up_and_what_comes_then_is_late() {
    let mut sorter = window("window:hold=100ns");
    assert_eq!(run(&mut sorter, &[(0, 1), (10, 4), (20, 3), (30, 7)]), [1]);
    let mut up = Vec::new();
    sorter.on_deadline(109, &mut |p| up.push(p));
    assert!(up.is_empty()); // too early: nothing happens
    sorter.on_deadline(110, &mut |p| up.push(p));
    assert_eq!(up, [3, 4]); // 4 has waited, and 3 goes before it
    assert_eq!(sorter.next_deadline_ns(), Some(130));
    assert_eq!(
        run(&mut sorter, &[(111, 2), (112, 5), (113, 6)]),
        [2, 5, 6, 7]
    );
}

#[test]
fn a_batch_s_end_releases_nothing_but_what_is_due() {
    let mut sorter = window("window:hold=100ns");
    assert_eq!(run(&mut sorter, &[(0, 1), (10, 3)]), [1]);
    let mut up = Vec::new();
    sorter.end_of_batch(50, &mut |p| up.push(p));
    assert_eq!((up.len(), sorter.held()), (0, 1));
    sorter.end_of_batch(110, &mut |p| up.push(p)); // a driver that polls needs no timer
    assert_eq!(up, [3]);
}

#[test]
fn when_there_is_no_room_the_oldest_gap_gives_way() {
    let mut sorter = window("window:window=2");
    assert_eq!(run(&mut sorter, &[(0, 1), (1, 5), (2, 7), (3, 9)]), [1, 5]);
    assert_eq!(sorter.held(), 2);
    // Below all that is held: the gap before the new packet is the oldest one.
    assert_eq!(run(&mut sorter, &[(4, 6)]), [6, 7]);
    assert_eq!(run(&mut sorter, &[(5, 8)]), [8, 9]);
}

#[test]
fn a_fin_flushes_its_flow_and_an_ack_does_not() {
    let mut sorter = window("window");
    let mut up = Vec::new();
    let mut push = |kind, seq: usize, len| {
        let meta = Meta {
            flow: 1,
            seq: seq as u32,
            len,
            kind,
        };
        up.clear();
        sorter.push(&meta, seq, 0, &mut |p| up.push(p));
        up.clone()
    };
    assert_eq!(push(Kind::Data, 10, 10), [10]);
    assert_eq!(push(Kind::Data, 30, 10), []);
    assert_eq!(push(Kind::Ack, 40, 0), [40]);
    assert_eq!(push(Kind::Other, 20, 10), [30, 20]); // data that must not wait, with its end known
    assert_eq!(push(Kind::Data, 40, 10), [40]);
    assert_eq!(push(Kind::Data, 60, 10), []);
    assert_eq!(push(Kind::Close, 70, 0), [60, 70]);
    assert_eq!(push(Kind::Data, 7, 10), [7]); // a new flow begins where it begins
}

#[test]
fn flows_without_a_place_pass_as_they_come() {
    let config: SorterConfig = "window".parse().unwrap();
    let around = Surroundings {
        flows: 8,
        ..Surroundings::default()
    };
    let mut sorter = config.build::<u32, (u32, u32)>(&around).unwrap();
    let mut up = Vec::new();
    let mut push = |flow, seq| {
        sorter.push(&Meta::data(flow, seq, 1), (flow, seq), 0, &mut |p| {
            up.push(p);
        });
    };
    for flow in 0..8 {
        push(flow, 1);
        push(flow, 3);
    }
    push(99, 1);
    push(99, 3);
    push(99, 2);
    push(0, 2); // flow 0 holds nothing any more and gives way
    push(99, 1);
    push(99, 3);
    push(99, 2);
    let of_99: Vec<u32> = up.iter().filter(|p| p.0 == 99).map(|p| p.1).collect();
    assert_eq!(of_99, [1, 3, 2, 1, 2, 3]);
}

/// One flow of the twin; numbers are not modulo anything.
struct TwinFlow {
    flow: u8,
    next: i64,
    /// Number, packet, end, time.
    held: Vec<(i64, usize, i64, i64)>,
}

struct Twin {
    hold_ns: i64,
    window: usize,
    flows: Vec<TwinFlow>,
    up: Vec<usize>,
    /// Packets that had to wait.
    waited: u64,
}

impl TwinFlow {
    fn lowest(&self) -> Option<(i64, usize, i64, i64)> {
        self.held.iter().copied().min()
    }

    fn oldest(&self) -> Option<usize> {
        self.held.iter().map(|h| h.1).min()
    }

    fn settle(&mut self, up: &mut Vec<usize>) {
        while let Some(low) = self.lowest().filter(|low| low.0 <= self.next) {
            self.held.retain(|h| *h != low);
            self.next = self.next.max(low.2);
            up.push(low.1);
        }
    }

    /// Delivers up to packet `id`, whatever is missing.
    fn release_to(&mut self, id: usize, up: &mut Vec<usize>) {
        while self.held.iter().any(|h| h.1 == id) {
            self.next = self.lowest().map_or(self.next, |low| low.0.max(self.next));
            let low = self.lowest().unwrap();
            self.held.retain(|h| *h != low);
            self.next = self.next.max(low.2);
            up.push(low.1);
        }
        self.settle(up);
    }
}

impl Twin {
    fn push(&mut self, flow: u8, number: i64, len: i64, id: usize, now_ns: i64) {
        let Some(at) = self.flows.iter().position(|f| f.flow == flow) else {
            self.flows.push(TwinFlow {
                flow,
                next: number + len,
                held: Vec::new(),
            });
            return self.up.push(id);
        };
        loop {
            let held: usize = self.flows.iter().map(|f| f.held.len()).sum();
            let oldest = self.flows.iter().filter_map(TwinFlow::oldest).min();
            let own = &mut self.flows[at];
            let gives_way = held >= self.window
                && own.oldest() == oldest
                && own.lowest().is_some_and(|low| number < low.0);
            if number <= own.next || gives_way {
                own.next = own.next.max(number + len);
                self.up.push(id);
                return own.settle(&mut self.up);
            }
            if held < self.window {
                self.waited += 1;
                return own.held.push((number, id, number + len, now_ns));
            }
            let victim = self
                .flows
                .iter_mut()
                .find(|f| f.oldest() == oldest)
                .unwrap();
            let lowest = victim.lowest().unwrap();
            victim.release_to(lowest.1, &mut self.up);
        }
    }

    fn deadline(&mut self, now_ns: i64) {
        loop {
            let all = self.flows.iter().flat_map(|f| &f.held);
            let Some(oldest) = all.min_by_key(|h| h.1).copied() else {
                return;
            };
            if oldest.3 + self.hold_ns > now_ns {
                return;
            }
            let mut flows = self.flows.iter_mut();
            let of = flows.find(|f| f.held.contains(&oldest)).unwrap();
            of.release_to(oldest.1, &mut self.up);
        }
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        let all = self.flows.iter().flat_map(|f| &f.held);
        all.map(|h| h.3 + self.hold_ns).min()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn agrees_with_its_twin(
        hold_ns in 1i64..60,
        window in 1usize..12,
        steps in prop::collection::vec((0u8..4, 0i64..40, 0i64..4, 0i64..8), 0..200),
    ) {
        let mut sorter = self::window(&format!("window:hold={hold_ns}ns,window={window}"));
        let mut twin = Twin { hold_ns, window, flows: Vec::new(), up: Vec::new(), waited: 0 };
        let (mut up, mut now_ns) = (Vec::new(), 0);
        for (id, (flow, number, len, wait)) in steps.into_iter().enumerate() {
            let until = now_ns + wait;
            while let Some(due) = sorter.next_deadline_ns().filter(|due| *due <= until) {
                sorter.on_deadline(due, &mut |p| up.push(p));
                twin.deadline(due);
            }
            now_ns = until;
            // Flows move on slowly, each across the wrap.
            let number = 0xffff_ff80 + i64::from(flow) + id as i64 / 4 + number;
            let meta = Meta::data(u32::from(flow), number as u32, len as u32);
            sorter.push(&meta, id, now_ns, &mut |p| up.push(p));
            twin.push(flow, number, len, id, now_ns);
            prop_assert_eq!(&up, &twin.up);
            prop_assert_eq!(sorter.next_deadline_ns(), twin.next_deadline_ns());
        }
        let AnySorter::Window(own) = &sorter else { panic!("not the window") };
        let waited = own.waited();
        let told = waited.filled + waited.timed_out + waited.overflowed + waited.flushed;
        prop_assert_eq!(told + sorter.held() as u64, twin.waited);
    }
}
