//! Traces of what a receiver sees: pushes, batch ends and deliveries.

use inorder_sort::srpic::{Config, Srpic};
use inorder_sort::{FourTuple, Meta, Sorter};

/// A sorter whose packets are texts, and the packets delivered so far.
struct Trace {
    sorter: Srpic<u32, &'static str>,
    up: Vec<&'static str>,
}

impl Trace {
    fn new(config: Config) -> Self {
        Trace {
            sorter: Srpic::new(&config).unwrap(),
            up: Vec::new(),
        }
    }

    fn data(&mut self, flow: u32, seq: u32, len: u32, name: &'static str) -> &mut Self {
        let up = &mut self.up;
        let meta = Meta::data(flow, seq, len);
        self.sorter.push(&meta, name, &mut |p| up.push(p));
        self
    }

    fn at_once(&mut self, flow: u32, name: &'static str) -> &mut Self {
        let up = &mut self.up;
        let meta = Meta::unsuitable(flow);
        self.sorter.push(&meta, name, &mut |p| up.push(p));
        self
    }

    fn end(&mut self) -> &mut Self {
        let up = &mut self.up;
        self.sorter.end_of_batch(&mut |p| up.push(p));
        self
    }

    /// The packets delivered since the last call.
    fn up(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.up)
    }
}

#[test]
fn a_fin_does_not_overtake_its_data() {
    let mut t = Trace::new(Config::default());
    t.data(1, 200, 100, "1b").data(1, 100, 100, "1a");
    t.data(2, 100, 100, "2a").at_once(1, "1fin");
    assert_eq!(t.up(), ["1a", "1b", "1fin"]);
    assert_eq!(t.end().up(), ["2a"]);
}

#[test]
fn under_the_literal_rule_a_fin_overtakes_its_data() {
    let mut t = Trace::new(Config {
        literal: true,
        ..Config::default()
    });
    t.data(1, 200, 100, "b")
        .data(1, 100, 100, "a")
        .at_once(1, "fin");
    assert_eq!(t.up(), ["fin"]);
    assert_eq!(t.end().up(), ["a", "b"]);
}

#[test]
fn copies_come_up_in_arrival_order() {
    let mut t = Trace::new(Config::default());
    for (seq, name) in [
        (1, "1"),
        (2, "2"),
        (3, "3"),
        (2, "2 again"),
        (4, "4"),
        (2, "2 third"),
    ] {
        t.data(1, seq, 1, name);
    }
    assert_eq!(t.end().up(), ["1", "2", "2 again", "2 third", "3", "4"]);
}

#[test]
fn under_the_literal_rule_a_copy_comes_up_first() {
    // Listing 1 puts the copy into Prev because it is below NextExp, and so creates reordering itself.
    let mut t = Trace::new(Config {
        literal: true,
        ..Config::default()
    });
    for (seq, name) in [(1, "1"), (2, "2"), (3, "3"), (2, "2 again")] {
        t.data(1, seq, 1, name);
    }
    assert_eq!(t.end().up(), ["2 again", "1", "2", "3"]);
}

#[test]
fn an_early_packet_stays_before_its_copy() {
    let mut t = Trace::new(Config::default());
    for (seq, name) in [(1, "1"), (3, "3"), (2, "2"), (3, "3 again"), (4, "4")] {
        t.data(1, seq, 1, name);
    }
    assert_eq!(t.end().up(), ["1", "2", "3", "3 again", "4"]);
}

#[test]
fn numbers_wrap() {
    let mut t = Trace::new(Config::default());
    t.data(1, 0xffff_ff00, 0x100, "a")
        .data(1, 0x100, 0x100, "c");
    t.data(1, 0, 0x100, "b").data(1, 0xffff_fe00, 0x100, "z");
    assert_eq!(t.end().up(), ["z", "a", "b", "c"]);
}

#[test]
fn a_full_block_is_delivered_at_once() {
    let mut t = Trace::new(Config::new(3, 512));
    t.data(1, 3, 1, "3")
        .data(2, 9, 1, "other")
        .data(1, 1, 1, "1");
    assert_eq!(t.up(), [""; 0]);
    assert_eq!(t.data(1, 2, 1, "2").up(), ["1", "2", "3"]);
    // The next block starts without knowledge of the previous one.
    t.data(1, 5, 1, "5").data(1, 4, 1, "4");
    assert_eq!(t.end().up(), ["4", "5", "other"]);
}

#[test]
fn a_full_ring_delivers_its_flows_in_order_of_first_arrival() {
    let mut t = Trace::new(Config::new(32, 4));
    t.data(7, 2, 1, "7b")
        .data(5, 1, 1, "5a")
        .data(7, 1, 1, "7a");
    assert_eq!(t.up(), [""; 0]);
    assert_eq!(t.data(6, 1, 1, "6a").up(), ["7a", "7b", "5a", "6a"]);
}

#[test]
fn a_full_flow_table_flushes_every_flow() {
    let config = Config {
        flow_capacity: 2,
        ..Config::new(32, 512)
    };
    let mut t = Trace::new(config);
    t.data(1, 2, 1, "1b")
        .data(2, 1, 1, "2a")
        .data(1, 1, 1, "1a");
    assert_eq!(t.data(3, 1, 1, "3a").up(), ["1a", "1b", "2a"]);
    assert_eq!(t.end().up(), ["3a"]);
    assert_eq!(t.sorter.counters().full_tables, 1);
}

#[test]
fn flows_do_not_affect_each_other() {
    let mut t = Trace::new(Config::default());
    t.data(1, 1, 1, "1a").at_once(9, "9 has nothing held");
    assert_eq!(t.up(), ["9 has nothing held"]);
    assert_eq!(t.end().up(), ["1a"]);
}

#[test]
fn sixteen_bit_services_sort_over_their_wrap() {
    let flow = FourTuple::v4([10, 0, 0, 1], 5004, [10, 0, 0, 2], 5004);
    let mut sorter = Srpic::new(&Config::default()).unwrap();
    let mut up = Vec::new();
    for number in [65534u64, 0, 65535, 1] {
        let meta = Meta::numbered(flow, number, 16);
        sorter.push(&meta, number, &mut |p| up.push(p));
    }
    sorter.end_of_batch(&mut |p| up.push(p));
    assert_eq!(up, [65534, 65535, 0, 1]);
}

#[test]
fn a_burst_gives_the_same_result_as_single_packets() {
    let burst = [
        (1, 3, "3"),
        (1, 1, "1"),
        (1, 2, "2"),
        (2, 7, "7"),
        (1, 4, "4"),
        (2, 6, "6"),
    ];
    let mut sorter = Srpic::new(&Config::new(3, 512)).unwrap();
    let mut up = Vec::new();
    let meta = |&(flow, seq, _): &(u32, u32, &str)| Meta::data(flow, seq, 1);
    sorter.push_burst(&burst, meta, |t| t.2, 0, &mut |p| up.push(p));
    assert_eq!(up, ["1", "2", "3"]);
    sorter.end_of_batch(&mut |p| up.push(p));
    assert_eq!(up, ["1", "2", "3", "4", "6", "7"]);
}

#[test]
fn a_batch_into_an_array_also_delivers_what_was_held() {
    let mut sorter = Srpic::new(&Config::new(3, 512)).unwrap();
    let meta = |&seq: &u32| Meta::data(1u32, seq, 1);
    sorter.push(&meta(&9), 9, &mut |_| panic!("held until its batch ends"));
    let mut up = [0; 5];
    // The array is one place short for the five packets, so no packet is taken.
    let mut short = [0; 4];
    assert_eq!(
        sorter.sort_batch(&[5, 7, 6, 8], meta, |&n| n, 0, &mut short),
        None
    );
    assert_eq!((sorter.held(), short), (1, [0; 4]));
    assert_eq!(
        sorter.sort_batch(&[5, 7, 6, 8], meta, |&n| n, 0, &mut up),
        Some(5)
    );
    assert_eq!((sorter.held(), up), (0, [5, 7, 9, 6, 8])); // blocks of three: 9 5 7, then 6 8
}

#[test]
fn a_flow_that_sent_whole_blocks_is_still_the_first_of_the_batch() {
    let mut sorter = Srpic::new(&Config::new(2, 512)).unwrap();
    let mut up = Vec::new();
    let meta = |&(flow, seq): &(u32, u32)| Meta::data(flow, seq, 1);
    sorter.push_burst(&[(1, 1), (1, 0)], meta, |t| *t, 0, &mut |p| up.push(p));
    assert_eq!((sorter.flows(), sorter.held()), (1, 0));
    assert_eq!(sorter.lists(&1).map(|l| l.curr.len()), Some(0));
    sorter.push_burst(&[(2, 5), (1, 2)], meta, |t| *t, 0, &mut |p| up.push(p));
    sorter.end_of_batch(&mut |p| up.push(p));
    assert_eq!(up, [(1, 0), (1, 1), (1, 2), (2, 5)]);
}

/// A caller that uses only the trait, as a caller with several sorters does.
fn run<S: Sorter<u32, u32>>(mut sorter: S, seqs: &[u32]) -> Vec<u32> {
    let mut up = Vec::new();
    for (now, &seq) in (0..).zip(seqs) {
        sorter.push(&Meta::data(1, seq, 1), seq, now, &mut |p| up.push(p));
        assert_eq!(sorter.next_deadline_ns(), None);
    }
    assert_eq!(sorter.held() + up.len(), seqs.len());
    sorter.end_of_batch(99, &mut |p| up.push(p));
    up
}

#[test]
fn a_sorter_works_through_its_trait() {
    let sorter = Srpic::new(&Config::default()).unwrap();
    assert_eq!(run(sorter, &[5, 3, 4]), [3, 4, 5]);
}

#[test]
fn configurations_out_of_range_are_refused() {
    for config in [
        Config::new(0, 512),
        Config::new(32, 0),
        Config::new(32, usize::MAX),
        Config {
            flow_capacity: 0,
            ..Config::default()
        },
    ] {
        let error = Srpic::<u32, u32>::new(&config).err().unwrap();
        assert!(error.to_string().contains("must be 1 to"), "{error}");
    }
}

#[test]
fn counters_give_the_reason_of_each_flush() {
    let mut t = Trace::new(Config::new(2, 5));
    t.data(1, 1, 1, "").data(1, 2, 1, ""); // a full block
    t.data(2, 1, 1, "").at_once(2, "").at_once(2, ""); // one flush for a packet that passes at once
    t.data(3, 1, 1, "")
        .data(4, 1, 1, "")
        .data(5, 1, 1, "")
        .end(); // the ring is full
    let c = t.sorter.counters();
    assert_eq!((c.sorted, c.passed, c.batches), (6, 2, 1));
    assert_eq!((c.full_blocks, c.overtaken, c.full_rings), (1, 1, 1));
}
