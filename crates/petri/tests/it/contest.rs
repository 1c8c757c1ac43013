//! Models of the Model Checking Contest, generated from their parameters: sizes of state spaces and answers to formulas of
//! computation tree logic beside the published ones.
//!
//! Published: the StateSpace, ReachabilityDeadlock, QuasiLiveness, Liveness and StableMarking answers of the contest's edition of
//! 2020 (on which its tools agreed, and the sizes of Tedd), as collected in github.com/yanntm/pnmcc-models-2020, folder
//! `oracle`.

use std::fmt::Write;

use crate::common::runs::{formula, net};
use inorder_petri::net::{Net, Place};
use inorder_petri::query::Verdict;
use inorder_petri::reachability::Graph;

/// The answers to each model: numbers of markings and of firings, most tokens in a place and in a marking; whether it can deadlock,
/// each transition can fire at least once, each can always fire again, and some place always keeps its tokens.
const PUBLISHED: &str = "\
Philosophers-PT-000005 243 945 1 10 true true false false
FMS-PT-00002 3444 16311 3 12 false true true false
Dekker-PT-010 6144 171530 1 20 false true true false
Eratosthenes-PT-020 2048 23040 1 19 true true false true
Referendum-PT-0010 59050 393661 1 10 true true false false
RwMutex-PT-r0010w0010 1034 10260 1 30 false true true false
TokenRing-PT-010 58905 294050 1 11 false false false false
SharedMemory-PT-000005 1863 10395 1 11 false true true false
SwimmingPool-PT-01 89621 450003 20 45 false true true false
ERK-PT-000010 47047 372372 10 50 false true true false
";

/// Too many markings for a test of every day.
const PUBLISHED_LARGE: &str = "Kanban-PT-00005 2546432 24460016 5 20 false true true false";

fn model(name: &str) -> Net {
    let builder = match name {
        "Philosophers-PT-000005" => philosophers(5),
        "FMS-PT-00002" => manufacturing(2),
        "Dekker-PT-010" => dekker(10),
        "Eratosthenes-PT-020" => eratosthenes(20),
        "Referendum-PT-0010" => referendum(10),
        "RwMutex-PT-r0010w0010" => readers_and_writers(10, 10),
        "TokenRing-PT-010" => token_ring(10),
        "SharedMemory-PT-000005" => shared_memory(5),
        "SwimmingPool-PT-01" => swimming_pool(1),
        "ERK-PT-000010" => erk(10),
        "Kanban-PT-00005" => kanban(5),
        other => panic!("{other} has no parameters"),
    };
    net(&builder.text)
}

/// The text of a net of places and of transitions as `inputs -> outputs`.
#[derive(Default)]
struct Builder {
    text: String,
    transitions: usize,
}

impl Builder {
    /// Places with the same number of tokens.
    fn places(&mut self, tokens: u32, names: &str) {
        for name in names.split_whitespace() {
            writeln!(self.text, "place {name} {tokens}").expect("a string");
        }
    }

    /// `a b -> c`
    fn line(&mut self, text: &str) {
        let (inputs, outputs) = text.split_once("->").expect("an arrow");
        let number = self.transitions;
        self.transitions += 1;
        writeln!(self.text, "transition t{number} exponential rate 1").expect("a string");
        for (kind, names) in [("in", inputs), ("out", outputs)] {
            for name in names.split_whitespace() {
                writeln!(self.text, " {kind} {name}").expect("a string");
            }
        }
    }

    fn lines(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }
}

/// Philosophers who take the forks in any order.
fn philosophers(n: usize) -> Builder {
    let mut net = Builder::default();
    for i in 0..n {
        net.places(1, &format!("think{i} fork{i}"));
        net.places(0, &format!("left{i} right{i} eat{i}"));
    }
    for i in 0..n {
        let j = (i + 1) % n;
        net.line(&format!("think{i} fork{i} -> left{i}"));
        net.line(&format!("think{i} fork{j} -> right{i}"));
        net.line(&format!("left{i} fork{j} -> eat{i}"));
        net.line(&format!("right{i} fork{i} -> eat{i}"));
        net.line(&format!("eat{i} -> think{i} fork{i} fork{j}"));
    }
    net
}

/// The flexible manufacturing system of Ciardo and Trivedi, with `n` pallets of each kind.
fn manufacturing(n: u32) -> Builder {
    let mut net = Builder::default();
    net.places(n, "P1 P2 P3");
    net.places(3, "M1");
    net.places(1, "M2");
    net.places(2, "M3");
    net.places(
        0,
        "P1wM1 P1M1 P1d P1s P1wP2 P2wM2 P2M2 P2d P2s P2wP1 P3M2 P3s P12 P12wM3 P12M3 P12s",
    );
    net.lines(
        "P1 -> P1wM1\n\
         P1wM1 M1 -> P1M1\n\
         P1M1 -> P1d M1\n\
         P1d -> P1s\n\
         P1d -> P1wP2\n\
         P1s -> P1\n\
         P2 -> P2wM2\n\
         P2wM2 M2 -> P2M2\n\
         P2M2 -> P2d M2\n\
         P2d -> P2s\n\
         P2d -> P2wP1\n\
         P2s -> P2\n\
         P3 -> P3M2\n\
         P3M2 M2 -> P3s M2\n\
         P3s -> P3\n\
         P1wP2 P2wP1 -> P12\n\
         P12 -> P12wM3\n\
         P12wM3 M3 -> P12M3\n\
         P12M3 -> P12s M3\n\
         P12s -> P1 P2",
    );
    net
}

/// Dekker's mutual exclusion for `n` processes.
fn dekker(n: usize) -> Builder {
    let mut net = Builder::default();
    for i in 0..n {
        net.places(1, &format!("out{i} down{i}"));
        net.places(0, &format!("wants{i} in{i} up{i}"));
    }
    for i in 0..n {
        let others = (0..n).filter(|&j| j != i);
        net.line(&format!("out{i} down{i} -> wants{i} up{i}"));
        net.line(&format!("in{i} up{i} -> out{i} down{i}"));
        let down: String = others.clone().map(|j| format!("down{j} ")).collect();
        net.line(&format!("wants{i} {down} -> in{i} {down}"));
        for j in others {
            net.line(&format!("wants{i} up{i} up{j} -> out{i} down{i} up{j}"));
        }
    }
    net
}

/// The sieve of Eratosthenes up to `n`.
fn eratosthenes(n: usize) -> Builder {
    let mut net = Builder::default();
    (2..=n).for_each(|i| net.places(1, &format!("p{i}")));
    for divisor in 2..=n {
        for multiple in (2 * divisor..=n).step_by(divisor) {
            net.line(&format!("p{divisor} p{multiple} -> p{divisor}"));
        }
    }
    net
}

/// A vote of `n` people.
fn referendum(n: usize) -> Builder {
    let mut net = Builder::default();
    net.places(1, "ready");
    for i in 0..n {
        net.places(0, &format!("voting{i} yes{i} no{i}"));
    }
    let voting: String = (0..n).map(|i| format!("voting{i} ")).collect();
    net.line(&format!("ready -> {voting}"));
    for i in 0..n {
        net.line(&format!("voting{i} -> yes{i}"));
        net.line(&format!("voting{i} -> no{i}"));
    }
    net
}

/// Readers, each with a mutex of its own, and writers who need all of them.
fn readers_and_writers(readers: usize, writers: usize) -> Builder {
    let mut net = Builder::default();
    for i in 0..readers {
        net.places(1, &format!("idle{i} mutex{i}"));
        net.places(0, &format!("reads{i}"));
    }
    for i in 0..writers {
        net.places(1, &format!("waits{i}"));
        net.places(0, &format!("writes{i}"));
    }
    for i in 0..readers {
        net.line(&format!("idle{i} mutex{i} -> reads{i}"));
        net.line(&format!("reads{i} -> idle{i} mutex{i}"));
    }
    let all: String = (0..readers).map(|i| format!("mutex{i} ")).collect();
    for i in 0..writers {
        net.line(&format!("waits{i} {all} -> writes{i}"));
        net.line(&format!("writes{i} -> waits{i} {all}"));
    }
    net
}

/// Dijkstra's self-stabilising ring of `n + 1` processes with `n + 1` states each; process `i` starts in state `i`.
fn token_ring(n: usize) -> Builder {
    let mut net = Builder::default();
    for (i, v) in (0..=n).flat_map(|i| (0..=n).map(move |v| (i, v))) {
        net.places(u32::from(i == v), &format!("s{i}_{v}"));
    }
    for v in 0..=n {
        let next = (v + 1) % (n + 1);
        net.line(&format!("s0_{v} s{n}_{v} -> s0_{next} s{n}_{v}"));
    }
    for i in 1..=n {
        let before = i - 1;
        for (v, w) in (0..=n).flat_map(|v| (0..=n).map(move |w| (v, w))) {
            if v != w {
                net.line(&format!("s{i}_{v} s{before}_{w} -> s{i}_{w} s{before}_{w}"));
            }
        }
    }
    net
}

/// `n` processors with a memory each and one bus for the memories of others.
fn shared_memory(n: usize) -> Builder {
    let mut net = Builder::default();
    net.places(1, "bus");
    for i in 0..n {
        net.places(1, &format!("active{i} memory{i}"));
        net.places(0, &format!("own{i} queue{i}"));
        let others = (0..n).filter(|&j| j != i);
        others.for_each(|j| net.places(0, &format!("other{i}_{j}")));
    }
    for i in 0..n {
        net.line(&format!("active{i} -> queue{i}"));
        net.line(&format!("active{i} memory{i} -> own{i} memory{i}"));
        net.line(&format!("own{i} -> active{i}"));
        for j in (0..n).filter(|&j| j != i) {
            net.line(&format!("queue{i} memory{j} bus -> other{i}_{j}"));
            net.line(&format!("other{i}_{j} -> active{i} memory{j} bus"));
        }
    }
    net
}

/// Bérard's swimming pool: guests, cabins and bags.
fn swimming_pool(n: u32) -> Builder {
    let mut net = Builder::default();
    net.places(20 * n, "out");
    net.places(10 * n, "cabins");
    net.places(15 * n, "bags");
    net.places(0, "entered waits undresses bathes dresses dressed");
    net.lines(
        "out -> entered\n\
         entered cabins -> waits\n\
         waits bags -> undresses\n\
         undresses -> bathes cabins\n\
         bathes cabins -> dresses\n\
         dresses -> dressed bags\n\
         dressed -> out cabins",
    );
    net
}

/// The ERK pathway under the influence of RKIP (Cho et al., 2003; Gilbert and Heiner, 2006).
fn erk(n: u32) -> Builder {
    let mut net = Builder::default();
    net.places(n, "Raf RKIP ERK MEKPP RP");
    net.places(0, "RafRKIP ERKPP RafRKIPERKPP MEKPPERK RKIPP RKIPPRP");
    net.lines(
        "Raf RKIP -> RafRKIP\n\
         RafRKIP -> Raf RKIP\n\
         RafRKIP ERKPP -> RafRKIPERKPP\n\
         RafRKIPERKPP -> RafRKIP ERKPP\n\
         RafRKIPERKPP -> Raf RKIPP ERK\n\
         MEKPP ERK -> MEKPPERK\n\
         MEKPPERK -> MEKPP ERK\n\
         MEKPPERK -> MEKPP ERKPP\n\
         RKIPP RP -> RKIPPRP\n\
         RKIPPRP -> RKIPP RP\n\
         RKIPPRP -> RKIP RP",
    );
    net
}

/// A kanban system of four cells with `n` cards each; of the second and third cell, parts move on together.
fn kanban(n: u32) -> Builder {
    let mut net = Builder::default();
    for cell in 1..=4 {
        net.places(n, &format!("cards{cell}"));
        net.places(0, &format!("machine{cell} back{cell} out{cell}"));
    }
    for cell in 1..=4 {
        net.line(&format!("machine{cell} -> out{cell}"));
        net.line(&format!("machine{cell} -> back{cell}"));
        net.line(&format!("back{cell} -> machine{cell}"));
    }
    net.line("cards1 -> machine1");
    net.line("out1 cards2 cards3 -> cards1 machine2 machine3");
    net.line("out2 out3 cards4 -> cards2 cards3 machine4");
    net.line("out4 -> cards4");
    net
}

/// The answers of the graph of all markings.
fn answers(net: &Net) -> String {
    let graph = Graph::explore(net, 3_000_000);
    assert!(graph.is_complete());
    let markings = || (0..graph.len()).map(|state| graph.marking(state));
    let firings: usize = (0..graph.len())
        .map(|state| graph.successors(state).count())
        .sum();
    let most_in_place = markings().flatten().max().unwrap_or(&0);
    let most_in_all: u32 = markings().map(|m| m.iter().sum()).max().unwrap_or(0);
    let holds = |query: &str| match formula(net, query).check(net, &graph).verdict {
        Verdict::Holds => true,
        Verdict::Fails => false,
        Verdict::Unknown => panic!("the graph is complete"),
    };
    let all = |query: &str| {
        let mut transitions = net.transitions.iter();
        transitions.all(|t| holds(&query.replace('?', &t.name)))
    };
    let is_stable = |place: &Place| holds(&format!("AG \"{}\" = {}", place.name, place.tokens));
    format!(
        "{} {firings} {most_in_place} {most_in_all} {} {} {} {}",
        graph.len(),
        holds("EF deadlock"),
        all("EF enabled(?)"),
        all("AG EF enabled(?)"),
        net.places.iter().any(is_stable)
    )
}

#[track_caller]
fn compare(table: &str) {
    for line in table.lines() {
        let (name, published) = line.split_once(' ').expect("a name and answers");
        assert_eq!(answers(&model(name)), published, "{name}");
    }
}

#[test]
fn sizes_and_answers_are_the_published_ones() {
    compare(PUBLISHED);
}

#[test]
#[ignore = "two and a half million markings; run with --release"]
fn size_and_answers_of_the_large_model_are_the_published_ones() {
    compare(PUBLISHED_LARGE);
}
