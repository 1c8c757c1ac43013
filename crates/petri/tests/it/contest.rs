//! Models of the Model Checking Contest, generated from their parameters: sizes of state spaces and answers to formulas of
//! computation tree logic beside the published ones.
//!
//! Published: the StateSpace, ReachabilityDeadlock, QuasiLiveness, Liveness and StableMarking answers of the contest's edition of
//! 2020 (on which its tools agreed, and the sizes of Tedd), as collected in github.com/yanntm/pnmcc-models-2020, folder
//! `oracle`.

use inorder_petri::net::{Net, Place, Timing, Transition};
use inorder_petri::query::{Query, Verdict};
use inorder_petri::reachability::Graph;

/// A model of the contest and its published answers.
struct Model {
    name: &'static str,
    net: Net,
    markings: usize,
    firings: usize,
    /// Most tokens in a place, and in a marking.
    most_tokens: [u32; 2],
    can_deadlock: bool,
    /// Each transition can fire at least once.
    is_quasi_live: bool,
    /// Each transition can always fire again.
    is_live: bool,
    /// Some place always keeps its tokens.
    has_stable_place: bool,
}

/// A net from its places and from transitions as `inputs -> outputs`.
#[derive(Default)]
struct Builder(Net);

impl Builder {
    fn place(&mut self, name: impl Into<String>, tokens: u32) {
        self.0.add_place(Place::new(name, tokens));
    }

    fn transition(&mut self, inputs: &[String], outputs: &[String]) {
        let number = self.0.transitions.len();
        let mut t = Transition::new(format!("t{number}"), Timing::exponential(1.0));
        let place = |net: &Net, name: &str| net.place_named(name).expect(name);
        for name in inputs {
            t = t.input(place(&self.0, name), 1);
        }
        for name in outputs {
            t = t.output(place(&self.0, name), 1);
        }
        self.0.add_transition(t);
    }

    /// `a b -> c`
    fn line(&mut self, text: &str) {
        let (inputs, outputs) = text.split_once("->").expect("an arrow");
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        self.transition(&words(inputs), &words(outputs));
    }
}

/// Philosophers who take the forks in any order.
fn philosophers(n: usize) -> Net {
    let mut net = Builder::default();
    for i in 0..n {
        net.place(format!("think{i}"), 1);
        net.place(format!("fork{i}"), 1);
        for what in ["left", "right", "eat"] {
            net.place(format!("{what}{i}"), 0);
        }
    }
    for i in 0..n {
        let j = (i + 1) % n;
        net.line(&format!("think{i} fork{i} -> left{i}"));
        net.line(&format!("think{i} fork{j} -> right{i}"));
        net.line(&format!("left{i} fork{j} -> eat{i}"));
        net.line(&format!("right{i} fork{i} -> eat{i}"));
        net.line(&format!("eat{i} -> think{i} fork{i} fork{j}"));
    }
    net.0
}

/// The flexible manufacturing system of Ciardo and Trivedi, with `n` pallets of each kind.
fn manufacturing(n: u32) -> Net {
    let mut net = Builder::default();
    for (name, tokens) in [
        ("P1", n),
        ("P2", n),
        ("P3", n),
        ("M1", 3),
        ("M2", 1),
        ("M3", 2),
    ] {
        net.place(name, tokens);
    }
    let empty = "P1wM1 P1M1 P1d P1s P1wP2 P2wM2 P2M2 P2d P2s P2wP1 P3M2 P3s P12 P12wM3 P12M3 P12s";
    empty.split(' ').for_each(|name| net.place(name, 0));
    for line in [
        "P1 -> P1wM1",
        "P1wM1 M1 -> P1M1",
        "P1M1 -> P1d M1",
        "P1d -> P1s",
        "P1d -> P1wP2",
        "P1s -> P1",
        "P2 -> P2wM2",
        "P2wM2 M2 -> P2M2",
        "P2M2 -> P2d M2",
        "P2d -> P2s",
        "P2d -> P2wP1",
        "P2s -> P2",
        "P3 -> P3M2",
        "P3M2 M2 -> P3s M2",
        "P3s -> P3",
        "P1wP2 P2wP1 -> P12",
        "P12 -> P12wM3",
        "P12wM3 M3 -> P12M3",
        "P12M3 -> P12s M3",
        "P12s -> P1 P2",
    ] {
        net.line(line);
    }
    net.0
}

/// Dekker's mutual exclusion for `n` processes.
fn dekker(n: usize) -> Net {
    let mut net = Builder::default();
    for i in 0..n {
        for (name, tokens) in [("out", 1), ("wants", 0), ("in", 0), ("down", 1), ("up", 0)] {
            net.place(format!("{name}{i}"), tokens);
        }
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
    net.0
}

/// The sieve of Eratosthenes up to `n`.
fn eratosthenes(n: usize) -> Net {
    let mut net = Builder::default();
    (2..=n).for_each(|i| net.place(format!("p{i}"), 1));
    for divisor in 2..=n {
        for multiple in (2 * divisor..=n).step_by(divisor) {
            net.line(&format!("p{divisor} p{multiple} -> p{divisor}"));
        }
    }
    net.0
}

/// A vote of `n` people.
fn referendum(n: usize) -> Net {
    let mut net = Builder::default();
    net.place("ready", 1);
    for i in 0..n {
        for what in ["voting", "yes", "no"] {
            net.place(format!("{what}{i}"), 0);
        }
    }
    let voting: String = (0..n).map(|i| format!("voting{i} ")).collect();
    net.line(&format!("ready -> {voting}"));
    for i in 0..n {
        net.line(&format!("voting{i} -> yes{i}"));
        net.line(&format!("voting{i} -> no{i}"));
    }
    net.0
}

/// Readers, each with a mutex of its own, and writers who need all of them.
fn readers_and_writers(readers: usize, writers: usize) -> Net {
    let mut net = Builder::default();
    for i in 0..readers {
        net.place(format!("idle{i}"), 1);
        net.place(format!("mutex{i}"), 1);
        net.place(format!("reads{i}"), 0);
    }
    for i in 0..writers {
        net.place(format!("waits{i}"), 1);
        net.place(format!("writes{i}"), 0);
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
    net.0
}

/// Dijkstra's self-stabilising ring of `n + 1` processes with `n + 1` states each; process `i` starts in state `i`.
fn token_ring(n: usize) -> Net {
    let mut net = Builder::default();
    for (i, v) in (0..=n).flat_map(|i| (0..=n).map(move |v| (i, v))) {
        net.place(format!("s{i}_{v}"), u32::from(i == v));
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
    net.0
}

/// `n` processors with a memory each and one bus for the memories of others.
fn shared_memory(n: usize) -> Net {
    let mut net = Builder::default();
    net.place("bus", 1);
    for i in 0..n {
        net.place(format!("active{i}"), 1);
        net.place(format!("memory{i}"), 1);
        net.place(format!("own{i}"), 0);
        net.place(format!("queue{i}"), 0);
        (0..n)
            .filter(|&j| j != i)
            .for_each(|j| net.place(format!("other{i}_{j}"), 0));
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
    net.0
}

/// Bérard's swimming pool: guests, cabins and bags.
fn swimming_pool(n: u32) -> Net {
    let mut net = Builder::default();
    for (name, tokens) in [("out", 20 * n), ("cabins", 10 * n), ("bags", 15 * n)] {
        net.place(name, tokens);
    }
    let empty = "entered waits undresses bathes dresses dressed";
    empty.split(' ').for_each(|name| net.place(name, 0));
    for line in [
        "out -> entered",
        "entered cabins -> waits",
        "waits bags -> undresses",
        "undresses -> bathes cabins",
        "bathes cabins -> dresses",
        "dresses -> dressed bags",
        "dressed -> out cabins",
    ] {
        net.line(line);
    }
    net.0
}

/// The ERK pathway under the influence of RKIP (Cho et al., 2003; Gilbert and Heiner, 2006).
fn erk(n: u32) -> Net {
    let mut net = Builder::default();
    ["Raf", "RKIP", "ERK", "MEKPP", "RP"]
        .into_iter()
        .for_each(|name| net.place(name, n));
    [
        "RafRKIP",
        "ERKPP",
        "RafRKIPERKPP",
        "MEKPPERK",
        "RKIPP",
        "RKIPPRP",
    ]
    .into_iter()
    .for_each(|name| net.place(name, 0));
    for line in [
        "Raf RKIP -> RafRKIP",
        "RafRKIP -> Raf RKIP",
        "RafRKIP ERKPP -> RafRKIPERKPP",
        "RafRKIPERKPP -> RafRKIP ERKPP",
        "RafRKIPERKPP -> Raf RKIPP ERK",
        "MEKPP ERK -> MEKPPERK",
        "MEKPPERK -> MEKPP ERK",
        "MEKPPERK -> MEKPP ERKPP",
        "RKIPP RP -> RKIPPRP",
        "RKIPPRP -> RKIPP RP",
        "RKIPPRP -> RKIP RP",
    ] {
        net.line(line);
    }
    net.0
}

/// A kanban system of four cells with `n` cards each; of the second and third cell, parts move on together.
fn kanban(n: u32) -> Net {
    let mut net = Builder::default();
    for cell in 1..=4 {
        net.place(format!("cards{cell}"), n);
        for what in ["machine", "back", "out"] {
            net.place(format!("{what}{cell}"), 0);
        }
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
    net.0
}

fn models() -> Vec<Model> {
    let model = |name, net, sizes: (usize, usize), most_tokens, answers: [bool; 4]| Model {
        name,
        net,
        markings: sizes.0,
        firings: sizes.1,
        most_tokens,
        can_deadlock: answers[0],
        is_quasi_live: answers[1],
        is_live: answers[2],
        has_stable_place: answers[3],
    };
    let (yes, no) = (true, false);
    vec![
        model(
            "Philosophers-PT-000005",
            philosophers(5),
            (243, 945),
            [1, 10],
            [yes, yes, no, no],
        ),
        model(
            "FMS-PT-00002",
            manufacturing(2),
            (3444, 16_311),
            [3, 12],
            [no, yes, yes, no],
        ),
        model(
            "Dekker-PT-010",
            dekker(10),
            (6144, 171_530),
            [1, 20],
            [no, yes, yes, no],
        ),
        model(
            "Eratosthenes-PT-020",
            eratosthenes(20),
            (2048, 23_040),
            [1, 19],
            [yes, yes, no, yes],
        ),
        model(
            "Referendum-PT-0010",
            referendum(10),
            (59_050, 393_661),
            [1, 10],
            [yes, yes, no, no],
        ),
        model(
            "RwMutex-PT-r0010w0010",
            readers_and_writers(10, 10),
            (1034, 10_260),
            [1, 30],
            [no, yes, yes, no],
        ),
        model(
            "TokenRing-PT-010",
            token_ring(10),
            (58_905, 294_050),
            [1, 11],
            [no, no, no, no],
        ),
        model(
            "SharedMemory-PT-000005",
            shared_memory(5),
            (1863, 10_395),
            [1, 11],
            [no, yes, yes, no],
        ),
        model(
            "SwimmingPool-PT-01",
            swimming_pool(1),
            (89_621, 450_003),
            [20, 45],
            [no, yes, yes, no],
        ),
        model(
            "ERK-PT-000010",
            erk(10),
            (47_047, 372_372),
            [10, 50],
            [no, yes, yes, no],
        ),
    ]
}

/// Too many markings for a test of every day.
fn kanban_of_the_contest() -> Model {
    Model {
        name: "Kanban-PT-00005",
        net: kanban(5),
        markings: 2_546_432,
        firings: 24_460_016,
        most_tokens: [5, 20],
        can_deadlock: false,
        is_quasi_live: true,
        is_live: true,
        has_stable_place: false,
    }
}

/// Whether a formula holds in the initial marking.
fn holds(net: &Net, graph: &Graph, formula: &str) -> bool {
    let Query::Holds(formula) = Query::read(formula, net).unwrap() else {
        panic!("{formula} is a number");
    };
    match formula.check(net, graph).verdict {
        Verdict::Holds => true,
        Verdict::Fails => false,
        Verdict::Unknown => panic!("the graph is complete"),
    }
}

/// What differs from the published answers.
fn differences(model: &Model) -> Vec<String> {
    let net = &model.net;
    let graph = Graph::explore(net, 3_000_000);
    assert!(graph.is_complete(), "{}", model.name);
    let markings = || (0..graph.len()).map(|state| graph.marking(state));
    let firings = (0..graph.len())
        .map(|state| graph.successors(state).count())
        .sum::<usize>();
    let most_in_place = markings().flatten().copied().max().unwrap_or(0);
    let most_in_all = markings()
        .map(|marking| marking.iter().sum())
        .max()
        .unwrap_or(0);
    let all = |formula: &str| {
        let mut transitions = net.transitions.iter();
        transitions.all(|t| holds(net, &graph, &formula.replace('?', &t.name)))
    };
    let stable = |place: &Place| {
        let formula = format!("AG \"{}\" = {}", place.name, place.tokens);
        holds(net, &graph, &formula)
    };
    let found = (
        (graph.len(), firings, [most_in_place, most_in_all]),
        holds(net, &graph, "EF deadlock"),
        all("EF enabled(?)"),
        all("AG EF enabled(?)"),
        net.places.iter().any(stable),
    );
    let published = (
        (model.markings, model.firings, model.most_tokens),
        model.can_deadlock,
        model.is_quasi_live,
        model.is_live,
        model.has_stable_place,
    );
    let is_same = found == published;
    (!is_same)
        .then(|| format!("{}: {found:?} instead of {published:?}", model.name))
        .into_iter()
        .collect()
}

#[test]
fn sizes_and_answers_are_the_published_ones() {
    let wrong: Vec<String> = models().iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "two and a half million markings; run with --release"]
fn size_and_answers_of_the_large_model_are_the_published_ones() {
    assert_eq!(differences(&kanban_of_the_contest()), Vec::<String>::new());
}
