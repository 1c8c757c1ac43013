//! Formulas and rewards: known answers, errors, and a straightforward twin on random nets.

use crate::common::cases::check;
use crate::common::runs::{formula, net, philosophers, sum};

use inorder_petri::net::{Net, TransitionId};
use inorder_petri::query::{Formula, Paths, Query, Verdict};
use inorder_petri::reachability::Graph;
use proptest::prelude::*;

fn verdict(net: &Net, query: &str) -> Verdict {
    let graph = Graph::explore(net, 100_000);
    formula(net, query).check(net, &graph).verdict
}

#[test]
fn philosophers_can_all_wait_but_need_not() {
    let net = philosophers(4);
    for (query, holds) in [
        ("EF deadlock", true),
        ("AG !deadlock", false),
        ("AG (eat0 + eat1 <= 1)", true),
        ("EF (eat0 = 1 & eat2 = 1)", true),
        ("AG (fork0 = 1 => EF eat0 = 1)", true),
        ("AG (fork0 = 0 => EF eat0 = 1)", false),
        ("AF eat0 = 1", false),
        ("EG eat0 = 0", true),
        ("EG !deadlock", true),
        ("AX (left0 + left1 + left2 + left3 = 1)", true),
        ("EX eat0 = 1", false),
        ("E[think0 = 1 U eat1 = 1]", true),
        ("A[eat0 = 0 U left0 = 1]", false),
        // In the only deadlock everybody holds the left fork.
        ("AG (deadlock => left0 + left1 + left2 + left3 = 4)", true),
        ("enabled(take0) and not enabled(begin0)", true),
    ] {
        let expected = [Verdict::Fails, Verdict::Holds][usize::from(holds)];
        assert_eq!(verdict(&net, query), expected, "{query}");
    }
}

#[test]
fn the_witness_is_a_shortest_firing_sequence() {
    let net = philosophers(3);
    let graph = Graph::explore(&net, 100_000);
    for query in ["EF deadlock", "AG !deadlock"] {
        let (path, marking) = formula(&net, query).check(&net, &graph).witness.unwrap();
        assert_eq!(path.len(), 3, "{query}: everybody takes one fork");
        let mut reached = net.initial_marking();
        assert!(path.iter().all(|&t| net.fire(t, &mut reached)));
        assert_eq!(&*reached, graph.marking(marking));
    }
}

#[test]
fn a_part_of_the_markings_decides_what_it_shows() {
    let net = net("place p\ntransition t exponential rate 1\n out p\n");
    let graph = Graph::explore(&net, 10);
    for (query, expected) in [
        ("EF p = 5", Verdict::Holds),
        ("AG p < 5", Verdict::Fails),
        ("EF p = 50", Verdict::Unknown),
        ("AG p < 50", Verdict::Unknown),
        ("AX p = 1", Verdict::Holds),
        ("EG p < 3", Verdict::Fails),
        ("AF p = 50", Verdict::Unknown),
        ("AF p = 5", Verdict::Holds),
    ] {
        let found = formula(&net, query).check(&net, &graph).verdict;
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn errors_point_at_the_column() {
    let net = philosophers(2);
    let message = |query: &str| Query::read(query, &net).unwrap_err().to_string();
    check(include_str!("../cases/query.txt"), "", message);
    let deep = format!("{}deadlock", "!".repeat(100_000));
    let error = Query::read(&deep, &net).unwrap_err().to_string();
    assert!(
        error.contains("at most 100 operators within each other"),
        "{error}"
    );
    let long = vec!["eat0"; 10_000].join(" + ") + " >= 0";
    assert!(Query::read(&long, &net).is_ok());
}

#[test]
fn numbers_are_computed_from_the_marking() {
    let net = philosophers(2);
    let marking = net.initial_marking();
    for (query, value) in [
        ("E(2 * fork0 + fork1 - 0.5)", 2.5),
        ("E(-fork0 * (think1 + 3))", -4.0),
        ("E((fork0 = 1) + 2 * (eat0 > 0))", 1.0),
        ("P(#fork0 = 1 & !deadlock)", 1.0),
        ("P(enabled(begin0) or false)", 0.0),
    ] {
        assert_eq!(sum(&net, query).value(&net, &marking), value, "{query}");
    }
}

/// The markings in which a formula holds, by its definition: iterated until nothing changes.
fn holds(net: &Net, graph: &Graph, formula: &Formula) -> Vec<bool> {
    let all = 0..graph.len();
    let of = |f: &Formula| holds(net, graph, f);
    let next = |set: &[bool], paths: Paths, i: usize| {
        let mut after = graph.successors(i).map(|(_, to)| set[to]);
        match paths {
            Paths::Some => after.any(|holds| holds),
            Paths::All => after.all(|holds| holds),
        }
    };
    let is_end = |i: usize| graph.successors(i).next().is_none();
    let until = |paths, f: &[bool], g: &[bool]| {
        let step = |set: &[bool], i: usize| g[i] || f[i] && !is_end(i) && next(set, paths, i);
        iterated(vec![false; graph.len()], step)
    };
    let globally = |paths, f: &[bool]| {
        let step = |set: &[bool], i: usize| f[i] && (is_end(i) || next(set, paths, i));
        iterated(vec![true; graph.len()], step)
    };
    let everywhere = vec![true; graph.len()];
    match formula {
        Formula::Not(f) => of(f).into_iter().map(|holds| !holds).collect(),
        Formula::And(fs) => all.map(|i| fs.iter().all(|f| of(f)[i])).collect(),
        Formula::Or(fs) => all.map(|i| fs.iter().any(|f| of(f)[i])).collect(),
        Formula::Next(paths, f) => {
            let set = of(f);
            all.map(|i| next(&set, *paths, i)).collect()
        }
        Formula::Finally(paths, f) => until(*paths, &everywhere, &of(f)),
        Formula::Globally(paths, f) => globally(*paths, &of(f)),
        Formula::Until(paths, f, g) => until(*paths, &of(f), &of(g)),
        condition => all
            .map(|i| condition.holds_in(net, graph.marking(i)))
            .collect(),
    }
}

fn iterated(mut set: Vec<bool>, step: impl Fn(&[bool], usize) -> bool) -> Vec<bool> {
    loop {
        let next: Vec<bool> = (0..set.len()).map(|i| step(&set, i)).collect();
        if next == set {
            return set;
        }
        set = next;
    }
}

/// Nets of four places that keep or lose tokens.
fn small_net() -> impl Strategy<Value = Net> {
    let ends = (0usize..4, 0usize..5);
    (
        prop::collection::vec(ends, 1..6),
        prop::collection::vec(0u32..3, 4),
    )
        .prop_map(|(moves, tokens)| {
            let mut lines = String::new();
            for (i, n) in tokens.iter().enumerate() {
                lines += &format!("place p{i} {n}\n");
            }
            for (t, (from, to)) in moves.iter().enumerate() {
                lines += &format!("transition t{t} exponential rate 1\n in p{from}\n");
                if *to < 4 && to != from {
                    lines += &format!(" out p{to}\n");
                }
            }
            net(&lines)
        })
}

fn any_formula() -> impl Strategy<Value = Formula> {
    let condition = prop_oneof![
        Just("deadlock".to_owned()),
        (0usize..4, 0u32..4).prop_map(|(p, n)| format!("p{p} >= {n}")),
        (0usize..4, 0usize..4).prop_map(|(p, q)| format!("p{p} < p{q}")),
        Just("enabled(t0)".to_owned()),
    ];
    let net =
        net("place p0\nplace p1\nplace p2\nplace p3\ntransition t0 exponential rate 1\n in p0\n");
    let leaf = condition.prop_map(move |text| formula(&net, &text));
    leaf.prop_recursive(3, 12, 2, |inner| {
        let paths = || prop_oneof![Just(Paths::Some), Just(Paths::All)];
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            one().prop_map(Formula::Not),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Formula::And),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Formula::Or),
            (paths(), one()).prop_map(|(p, f)| Formula::Next(p, f)),
            (paths(), one()).prop_map(|(p, f)| Formula::Finally(p, f)),
            (paths(), one()).prop_map(|(p, f)| Formula::Globally(p, f)),
            (paths(), one(), one()).prop_map(|(p, f, g)| Formula::Until(p, f, g)),
        ]
    })
}

proptest! {
    #[test]
    fn answers_equal_those_of_the_definition(net in small_net(), formula in any_formula(), limit in 1usize..20) {
        let whole = Graph::explore(&net, 10_000);
        prop_assert!(whole.is_complete());
        let expected = if holds(&net, &whole, &formula)[0] { Verdict::Holds } else { Verdict::Fails };
        let found = formula.check(&net, &whole);
        prop_assert_eq!(found.verdict, expected);
        if let Some((path, marking)) = found.witness {
            let mut reached = net.initial_marking();
            prop_assert!(path.iter().all(|&t: &TransitionId| net.fire(t, &mut reached)));
            prop_assert_eq!(&*reached, whole.marking(marking));
        }
        // A part of the markings never contradicts all of them.
        let part = formula.check(&net, &Graph::explore(&net, limit)).verdict;
        prop_assert!(part == expected || part == Verdict::Unknown, "{:?} instead of {:?}", part, expected);
    }

    #[test]
    fn any_text_is_a_query_or_an_error(text in "[ -~]{0,40}|([EA][XFGU\\[(]|p[01]|[()!&|=<>+*#]| |1|U|\\]){0,20}") {
        inorder_petri::query::fuzz_one(text.as_bytes());
    }
}

#[test]
fn a_place_may_be_written_as_in_measures_of_coloured_nets() {
    let net = philosophers(2);
    let read = |text| Query::read(text, &net);
    assert_eq!(read("P(tokens(eat0) == 1)"), read("P(eat0 = 1)"));
    assert_eq!(
        read("EF tokens(fork0) + fork1 < 1"),
        read("EF fork0 + fork1 < 1")
    );
    let error = read("EF tokens(knife) = 0").unwrap_err().to_string();
    assert_eq!(error, "column 11: expected a place, found knife");
}
