//! The states of coloured nets: solved, searched and played, against formulas and simulations.

use std::sync::atomic::AtomicBool;

use inorder_nets::{Campaign, Program, Study};
use inorder_petri::game::Game;
use inorder_petri::inspect::{Watch, Wishes, examine_moves};
use inorder_petri::markov::Chain;
use inorder_petri::net::{Net, PlaceId, TransitionId};
use inorder_petri::query::{Query, Verdict};
use inorder_petri::reachability::{Graph, Moves};

fn study(text: &str, set: &[(&str, &str)]) -> Study {
    let nothing_included = &mut |_: &str, name: &str| Err(format!("no file {name}"));
    let program = Program::read("test.net", text, nothing_included).expect("a net");
    let set: Vec<(String, String)> = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    program.study(&set).expect("a study")
}

fn states(text: &str) -> Box<dyn Moves> {
    study(text, &[]).states().expect("states")
}

fn chain(text: &str) -> Chain {
    Chain::of_moves(states(text).as_mut(), 100_000, |_| true).expect("a chain")
}

fn place(net: &Net, name: &str) -> PlaceId {
    net.place_named(name).expect("a place")
}

fn transition(net: &Net, name: &str) -> TransitionId {
    net.transition_named(name).expect("a transition")
}

/// `Ok` with the values of the measures of one run.
fn simulated(study: &Study) -> Vec<f64> {
    let campaign = Campaign {
        seed: 1,
        repetitions: 1,
        threads: 1,
        progress: &|_| {},
        stop: &AtomicBool::new(false),
    };
    let cells = study.run(&campaign).expect("a run");
    cells[0].runs[0].clone()
}

#[track_caller]
fn close(found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() < share,
        "{found} is not {expected}"
    );
}

/// A queue with room for five: at most four wait and one is served. The times at which jobs came are only measured.
const QUEUE: &str = "coloured net queue
parameter load = 0.75
record job
  came: time
place source 1
place waiting: job capacity 4
place server 1
sink out: job
transition arrive
  in source
  delay exponential(1 us / load)
  out source
  out waiting: {came = now}
transition serve
  in j: waiting
  in server
  delay exponential(1 us)
  out server
  out out: j
run 100000 at out
measure response = mean(out, now - came) in us
";

/// Rates of a coloured net are per unit of its clock, which is said beside them.
#[test]
fn an_exact_solution_names_the_unit_of_its_rates() {
    let solved = |text: &str| {
        let wishes = Wishes {
            exact: true,
            ..Wishes::default()
        };
        let found = examine_moves(states(text).as_mut(), &wishes, &Watch::default());
        let mut out = Vec::new();
        found
            .expect("a solution")
            .write_text(&mut out)
            .expect("text");
        String::from_utf8(out).expect("UTF-8")
    };
    let of_default = solved(QUEUE);
    assert!(
        of_default.contains("rates per ns, stays in ns\n"),
        "{of_default}"
    );
    let cycles = QUEUE.replacen('\n', "\nclock cycle at 500 MHz\n", 1);
    let of_cycles = solved(&cycles);
    assert!(
        of_cycles.contains("rates per cycle, stays in cycle\n"),
        "{of_cycles}"
    );
}

#[test]
fn tokens_arrive_in_a_firing_under_way_when_it_starts() {
    let chain = chain(QUEUE);
    let solution = chain.steady_state().expect("a steady state");
    let net = chain.net();
    let busy = place(net, "serve.busy");
    let starts = solution.throughput(transition(net, "serve.starts"));
    close(solution.arrivals(busy), starts, 1e-9);
    // Each service takes 1 us.
    close(solution.sojourn(busy).expect("a stay"), 1_000.0, 1e-9);
}

#[test]
fn a_queue_whose_jobs_carry_times_is_solved_since_the_times_decide_nothing() {
    let chain = chain(QUEUE);
    let solution = chain.steady_state().expect("a steady state");
    // A source that holds room for its job blocks while the queue is full: M/M/1/5 with states by the jobs in service and
    // waiting, of which the last is the blocked one.
    let net = chain.net();
    let served = solution.throughput(transition(net, "serve"));
    let busy = solution.mean_tokens(place(net, "serve.busy"));
    // Rates are per nanosecond.
    close(served * 1000.0, busy, 1e-12);
    close(solution.arrivals(place(net, "out")), served, 1e-12);
    let load: f64 = 0.75;
    // 0 to 5 jobs; with 5 the source waits for room, so that no further one comes.
    let weights: Vec<f64> = (0..=5).map(|n| load.powi(n)).collect();
    let idle = 1.0 / weights.iter().sum::<f64>();
    close(busy, 1.0 - idle, 1e-12);
    assert_eq!(chain.len(), 6);
}

#[test]
fn choices_of_outputs_have_their_probabilities() {
    let net = "coloured net choices
record job
  kind: int 0..3
place ready 1
place split: job
place a: job
place b: job
transition make
  in ready
  delay exponential(1 us)
  out split: {kind = below(4)}
transition sort
  in j: split
  out a: j if j.kind == 0 and chance(0.5)
  else b: j if j.kind < 3
  else a: j
transition from_a
  in j: a
  delay exponential(1 us)
  out ready
transition from_b
  in j: b
  delay exponential(1 us)
  out ready
run 1000 at a
";
    let chain = chain(net);
    let solution = chain.steady_state().expect("a steady state");
    let rate = |name: &str| solution.throughput(transition(chain.net(), name));
    close(rate("from_a") / rate("make"), 0.25 * 0.5 + 0.25, 1e-12);
    close(rate("from_b") / rate("make"), 0.25 * 0.5 + 0.5, 1e-12);
}

#[test]
fn an_output_on_a_condition_alone_is_decided_once() {
    // Either a or b or nothing; both places ask for the same random numbers.
    let net = "coloured net once
record job
  kind: int 0..1
place ready 1
place a: job
place b: job
transition make
  in ready
  delay exponential(1 us)
  out ready
  out a: {kind = below(2)} if chance(0.5)
  else b: {kind = 1} if chance(0.5)
transition from_a
  in j: a
transition from_b
  in j: b
run 1000 at a
";
    let chain = chain(net);
    let solution = chain.steady_state().expect("a steady state");
    let rate = |name: &str| solution.throughput(transition(chain.net(), name));
    close(rate("from_a") / rate("make"), 0.5, 1e-12);
    close(rate("from_b") / rate("make"), 0.25, 1e-12);
}

/// What an output without `else` decides stands in front of the choice of the output behind it.
#[test]
fn an_output_with_a_condition_leaves_the_choices_behind_it_alone() {
    let net = "\
coloured net receiver
record message
  bit: int
place ready 1
place kept: message
place answered: message
place silent: message
transition receive
  in ready
  delay exponential(1 us)
  out kept: {bit = 1} if chance(0.25)
  out answered: {bit = 0} if chance(0.5)
  else silent: {bit = 0}
transition forget
  in m: kept
transition answer
  in m: answered
  out ready
transition be_silent
  in m: silent
  out ready
run 1000 at kept
";
    let chain = chain(net);
    let solution = chain.steady_state().expect("a steady state");
    let rate = |name: &str| solution.throughput(transition(chain.net(), name));
    close(rate("forget") / rate("receive"), 0.25, 1e-12);
    close(rate("answer") / rate("receive"), 0.5, 1e-12);
}

#[test]
fn colours_queues_by_rank_and_erlang_delays_are_those_of_plain_nets() {
    // Urgent jobs first, without interruption; two of each kind circulate. The plain net has a place for each kind.
    let coloured = "coloured net ranks
record job
  urgent: bool
place home: job by urgent + 0 below 2
  token {urgent = true} for i in 0..2
  token {urgent = false} for i in 0..2
place waiting: job least if urgent then 0 else 1
place server 1
transition go
  in j: home
  delay exponential(3 us)
  out waiting: j
transition serve
  in j: waiting
  in server
  delay erlang(2, 1 us)
  out server
  out home: j
run 1 ms
"
    .replace("urgent + 0", "if urgent then 1 else 0");
    let plain = "place u 2\nplace n 2\nplace uw\nplace nw\nplace us\nplace ns\nplace server 1
transition gu exponential mean 3000 servers infinite\n in u\n out uw
transition gn exponential mean 3000 servers infinite\n in n\n out nw
transition su immediate priority 2\n in uw\n in server\n out us
transition sn immediate priority 1\n in nw\n in server\n out ns
transition eu erlang 2 rate 0.002\n in us\n out u\n out server
transition en erlang 2 rate 0.002\n in ns\n out n\n out server\n";
    let plain = inorder_petri::text::read("plain.net", plain).expect("a net");
    let plain = Chain::new(&plain, 10_000).expect("a chain");
    let expected = plain.steady_state().expect("a steady state");
    let coloured = chain(&coloured);
    let found = coloured.steady_state().expect("a steady state");
    assert_eq!(coloured.len(), plain.len());
    let waiting = found.mean_tokens(place(coloured.net(), "waiting"));
    let of = |name: &str| expected.mean_tokens(place(plain.net(), name));
    close(waiting, of("uw") + of("nw"), 1e-12);
    let rate = |name: &str| expected.throughput(transition(plain.net(), name));
    let served = found.throughput(transition(coloured.net(), "serve"));
    close(served, rate("eu") + rate("en"), 1e-12);
}

#[test]
fn what_decides_by_time_or_by_continuous_numbers_is_refused_with_the_line() {
    let refused = |lines: &str| {
        let text = format!(
            "coloured net refused\nrecord job\n  came: time\n  size: real\nplace source 1\nplace q: job\nplace o: job\n\
             transition make\n  in source\n  delay exponential(1 us)\n  out q: {{came = now, size = unit()}}\n\
             transition use\n  in j: q\n{lines}run 1 us\n"
        );
        let states = study(&text, &[]).states();
        states
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let by_time = refused("  out o: j if j.came > 1 us\n");
    assert!(
        by_time.starts_with("test.net:11:") && by_time.contains("`now`"),
        "{by_time}"
    );
    let by_size = refused("  delay exponential(1 us * j.size)\n");
    assert!(by_size.contains("continuous"), "{by_size}");
    assert_eq!(refused("  out o: j\n"), "");
}

/// A choice among 100,000 values is not followed in every way, and not in the first 65,536 ways either.
#[test]
fn choices_among_too_many_values_are_refused() {
    let text = |values: &str| {
        format!(
            "coloured net many\nrecord job\n  n: int\nplace source 1\nplace q: job\n\
             transition make\n  in source\n  delay exponential(1 us)\n  out q: {{n = below({values})}}\n\
             transition high\n  in j: q\n  guard j.n >= 2\n  out source\n\
             transition low\n  in j: q\n  guard j.n < 2\n  out source\nrun 1 us\n"
        )
    };
    let made = chain(&text("8"));
    let solution = made.steady_state().expect("a steady state");
    let rate = |name| solution.throughput(transition(made.net(), name));
    close(rate("high"), 3.0 * rate("low"), 1e-12);
    let mut states = states(&text("100000"));
    let error = Chain::of_moves(states.as_mut(), 1000, |_| true).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("line 9: expected at most 65536 values"),
        "{error}"
    );
}

/// A choice that is never made is not one whose probability is too small to be represented.
#[test]
fn choices_of_probability_0_are_left_out() {
    let made = chain(
        "coloured net never\nrecord job\n  n: int\nplace source 1\nplace q: job\n\
         transition make\n  in source\n  delay exponential(1 us)\n  out q: {n = 1} if chance(0)\n  else q: {n = 2}\n\
         transition one\n  in j: q\n  guard j.n == 1\n  delay exponential(1 us)\n  out source\n\
         transition two\n  in j: q\n  guard j.n == 2\n  delay exponential(1 us)\n  out source\nrun 1 us\n",
    );
    let solution = made.steady_state().expect("a steady state");
    let rate = |name| solution.throughput(transition(made.net(), name));
    assert_eq!(rate("one"), 0.0);
    close(rate("two"), 0.0005, 1e-12);
}

#[test]
fn delays_that_are_not_exponential_are_explored_but_not_solved() {
    let text = QUEUE.replace(
        "delay exponential(1 us)\n  out server",
        "delay 1 us\n  out server",
    );
    let mut states = states(&text);
    let graph = Graph::of_moves(states.as_mut(), 1000, |_| true).expect("a graph");
    assert!(graph.is_complete());
    let error = Chain::of_moves(states.as_mut(), 1000, |_| true).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("transition serve: a deterministic delay"),
        "{error}"
    );
}

/// Philosophers who take the left fork first; `first` lets one of them begin with the right one.
fn philosophers(right_handed: &str) -> String {
    format!(
        "coloured net table
constant seats = 3
record person
  seat: int 0..2
place thinking: person random
  token {{seat = i}} for i in 0..seats
place fork[seats] 1
place holding: person random
place eating: person random
transition first
  in p: thinking
  in fork[if {right_handed} then (p.seat + 1) mod seats else p.seat]
  delay exponential(1 us)
  out holding: p
transition second
  in p: holding
  in fork[if {right_handed} then p.seat else (p.seat + 1) mod seats]
  delay exponential(1 us)
  out eating: p
transition leave
  in p: eating
  delay exponential(1 us)
  out thinking: p
  out fork[p.seat]
  out fork[(p.seat + 1) mod seats]
run 1 us
"
    )
}

#[test]
fn a_deadlock_is_found_with_the_way_there_and_what_is_held() {
    let verdict = |text: &str, query: &str| {
        let mut states = states(text);
        let graph = Graph::of_moves(states.as_mut(), 100_000, |_| true).expect("a graph");
        let Ok(Query::Holds(formula)) = Query::read(query, states.net()) else {
            panic!("{query} is a formula");
        };
        formula.check(states.net(), &graph)
    };
    let all_left = philosophers("p.seat < 0");
    let found = verdict(&all_left, "EF deadlock");
    assert_eq!(found.verdict, Verdict::Holds);
    assert_eq!(found.witness.expect("a way").0.len(), 6);
    let one_right = philosophers("p.seat == 0");
    assert_eq!(verdict(&one_right, "EF deadlock").verdict, Verdict::Fails);
    assert_eq!(
        verdict(&one_right, "AG EF eating = 1").verdict,
        Verdict::Holds
    );
    assert_eq!(
        verdict(&one_right, "AG EF enabled(leave)").verdict,
        Verdict::Holds
    );
    assert_eq!(
        verdict(&one_right, "EF eating >= 2").verdict,
        Verdict::Fails
    );
}

#[test]
fn the_token_game_shows_tokens_and_goes_back() {
    let mut game = Game::of_moves(states(&philosophers("p.seat == 0")), 3).expect("a game");
    assert_eq!(
        game.words(),
        "thinking {seat = 0} {seat = 1} {seat = 2}, fork[0] 1, fork[1] 1, fork[2] 1"
    );
    let ways = game.ways().expect("ways");
    assert_eq!(ways.len(), 3);
    game.go(ways[1].clone());
    for _ in 0..100 {
        assert!(game.fire_by_chance().is_some());
    }
    for _ in 0..101 {
        assert!(game.back().is_some());
    }
    assert_eq!(game.back(), None);
    assert_eq!(game.marking()[0], 3);
}

#[test]
fn a_variable_that_decides_is_part_of_the_states_and_one_that_counts_is_not() {
    let net = "coloured net counting
variable turn = 0
variable made = 0
record job
  number: int
  turn: int 0..2
place ready 1
place a: job
transition make
  in ready
  delay exponential(1 us)
  do made += 1
  do turn = (turn + 1) mod 3
  out a: {number = made, turn = turn}
transition use
  in j: a
  delay exponential(1 us * (1 + j.turn))
  out ready
run 1000 at a
";
    let chain = chain(net);
    // Making and using, by the turn.
    assert_eq!(chain.len(), 6);
    let solution = chain.steady_state().expect("a steady state");
    // A round of three takes three times 1 us, and 1, 2 and 3 us.
    let rate = solution.throughput(transition(chain.net(), "make"));
    close(rate * 1000.0, 3.0 / 9.0, 1e-12);
}

/// Whoever waits gives up at rate 0.5 or is served at rate 1, with a server for each.
const IMPATIENT: &str = "coloured net impatient
record person
  number: int 0..7
parameter patience = 2 us
parameter service = 1 us
place free: person
  token {number = i} for i in 0..8
place wants: person
place waits: person
place clock 1
sink served: person
sink lost: person
transition come
  in p: free
  in clock
  delay exponential(1 us)
  out clock
  out wants: p
  out waits: p
transition serve
  in p: wants
  delay exponential(service)
  cancel other: give_up if other.number == p.number
  out free: p
  out served: p
transition give_up
  in p: waits
  delay exponential(patience)
  cancel other: serve if other.number == p.number
  out free: p
  out lost: p
run 200000 at served
measure served = rate(served) in MHz
measure lost = rate(lost) in MHz
measure present = busy(serve)
measure clocks = busy(give_up)
";

#[test]
fn of_two_firings_that_race_for_a_token_the_first_cancels_the_other() {
    let chain = chain(&IMPATIENT.replace("..8", "..4"));
    let solution = chain.steady_state().expect("a steady state");
    let rate = |name: &str| 1000.0 * solution.throughput(transition(chain.net(), name));
    close(rate("serve") / rate("give_up"), 2.0, 1e-12);
    let present = solution.mean_tokens(place(chain.net(), "serve.busy"));
    close(present, rate("come") / 1.5, 1e-12);
    close(
        present,
        solution.mean_tokens(place(chain.net(), "give_up.busy")),
        1e-12,
    );
    // Simulated with eight: each person who came leaves in one of the two ways.
    let values = simulated(&study(IMPATIENT, &[]));
    let [served, lost, present, clocks] = values[..] else {
        panic!("{values:?}");
    };
    close(served / lost, 2.0, 0.02);
    close(present, (served + lost) / 1.5, 0.02);
    close(clocks, present, 1e-9);
}

const BIT: &str = include_str!("../../nets/alternating-bit.net");

#[test]
fn the_alternating_bit_protocol_has_the_throughput_of_the_formula() {
    for (loss, timeout) in [(0.0, 25.0), (0.2, 25.0), (0.4, 11.0)] {
        let set = [
            ("loss", loss.to_string()),
            ("timeout", format!("{timeout} ms")),
        ];
        let set: Vec<(&str, &str)> = set
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let values = simulated(&study(BIT, &set));
        let success: f64 = (1.0 - loss) * (1.0 - loss);
        let failures = (1.0 - success) / success;
        let seconds = 1e-3 * (2.0 * 5.0 + timeout * failures);
        close(values[0], 1.0 / seconds, 0.01);
        close(values[1], 1.0 / success, 0.01);
        // Every failure is a time-out; an acknowledgement leaves no clock that runs out later.
        assert!((values[2] - (1.0 - success)).abs() < 0.01, "{values:?}");
    }
}

#[test]
fn the_newest_firing_goes_back_to_its_place() {
    // A job that comes interrupts the one in service, which waits and begins again (preemptive, with repetition).
    let net = "coloured net stack
record job
  kind: int 0..1
place source: job
  token {kind = 0}
  token {kind = 1}
place urgent: job
place waiting: job
transition come
  in j: source
  delay exponential(1 us)
  out urgent: j if j.kind == 1
  else waiting: j
transition begin_urgent
  in u: urgent
  cancel serve newest to waiting
  out served: u
  out taken
place served: job
place taken
place finished: job
transition urgent_service
  in u: served
  delay exponential(1 us)
  out finished: u
transition finish
  in u: finished
  in taken
  out source: u
transition serve
  in j: waiting
  inhibit taken
  delay exponential(1 us)
  out source: j
run 1 ms
";
    let chain = chain(net);
    let solution = chain.steady_state().expect("a steady state");
    let busy = |name: &str| solution.mean_tokens(place(chain.net(), name));
    // The urgent job never waits: it is served half of the time.
    close(busy("urgent_service.busy"), 0.5, 1e-12);
    assert_eq!(busy("urgent"), 0.0);
}

#[test]
fn a_trace_shows_starts_and_ends_with_the_marking_after_each() {
    let mut lines = Vec::new();
    let study = study(QUEUE, &[]);
    let mut see = |time: f64, net: &Net, id: TransitionId, marking: &[u32]| {
        let name = net.transitions[id.0].name.clone();
        lines.push((time, name, net.marking_text(marking)));
        lines.len() < 4
    };
    study.trace(1, None, &mut see).expect("a trace");
    let names: Vec<&str> = lines.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["arrive.starts", "arrive", "serve.starts", "arrive.starts"]
    );
    assert_eq!(lines[2].2, "source 1, serve.busy 1");
    assert!(lines.is_sorted_by(|a, b| a.0 <= b.0));
}

/// What the growth is said to be of the states of a net of which there is no end.
fn unbounded(text: &str) -> String {
    let error = Chain::of_moves(states(text).as_mut(), 50_000, |_| true).unwrap_err();
    error.to_string()
}

/// Jobs of which all that decides anything is their kind come without end: the line grows with every arrival, whatever
/// the kinds before it are.
#[test]
fn a_queue_that_grows_by_a_sequence_which_repeats_is_named() {
    let text = QUEUE.replace(" capacity 4", "");
    let refused = unbounded(&text);
    assert!(refused.starts_with("unbounded: after "), "{refused}");
    assert!(
        refused.contains("repeating arrive.starts, arrive adds tokens to waiting, so that"),
        "{refused}"
    );
    let kinds = text
        .replace("  came: time", "  kind: int 0..1\n  came: time")
        .replace("{came = now}", "{kind = below(2), came = now}")
        .replace(
            "delay exponential(1 us)\n  out server",
            "delay exponential(if j.kind == 0 then 1 us else 2 us)\n  out server",
        );
    let refused = unbounded(&kinds);
    assert!(
        refused.contains("adds tokens to waiting, so that"),
        "{refused}"
    );
}

/// Firings under way are numbers, too, as customers who are all served at the same time.
#[test]
fn firings_that_become_more_and_more_are_named() {
    let text = "coloured net many\nplace source 1\nplace here\n\
        transition arrive\n  in source\n  delay exponential(1 us)\n  out source\n  out here\n\
        transition serve\n  in here\n  delay exponential(1 us)\nrun 1 us\n";
    let refused = unbounded(text);
    assert!(
        refused.contains("adds tokens to serve.busy, so that"),
        "{refused}"
    );
    // With a thousand servers it is the place before them.
    let limited = text.replace("  in here\n", "  in here\n  servers 20\n");
    let refused = unbounded(&limited);
    assert!(
        refused.contains("adds tokens to here, so that"),
        "{refused}"
    );
}

/// An inhibitor arc bounds this queue at 600, above what is explored: nothing repeats, and what grew most is said.
#[test]
fn what_grew_most_is_said_where_no_sequence_repeats() {
    let text = QUEUE
        .replace(" capacity 4", "")
        .replace("  in source\n", "  in source\n  inhibit waiting 600\n");
    let states = &mut *states(&text);
    let refused = Chain::of_moves(states, 1000, |_| true)
        .unwrap_err()
        .to_string();
    assert!(
        refused
            .starts_with("more than 1000 markings (up to 332 tokens in waiting); raise the limit"),
        "{refused}"
    );
}

/// A counter in a token grows and not the number of tokens.
#[test]
fn a_token_that_counts_is_named() {
    let text = "coloured net again\nrecord job\n  try: int\nplace waiting: job\n  token {try = 0}\n\
        place limit: job\n  token {try = 0}\nsink lost: job\n\
        transition send\n  in j: waiting\n  delay exponential(1 us)\n  out waiting: {try = j.try + 1}\n\
        transition compare\n  in l: limit\n  read j: waiting\n  guard j.try < l.try\n  out lost: l\nrun 1 us\n";
    let refused = unbounded(text);
    assert!(
        refused.contains("different tokens in waiting, such as {try = "),
        "{refused}"
    );
}

/// However few states of a net are seen, they are not taken for the beginning of more without end.
#[test]
fn a_net_with_an_end_is_never_called_unbounded() {
    for text in [QUEUE, &philosophers("p.seat == 0")] {
        for limit in 1..40 {
            let found = Chain::of_moves(states(text).as_mut(), limit, |_| true);
            let refused = found.err().map(|error| error.to_string());
            assert!(refused.is_none_or(|refused| !refused.starts_with("unbounded")));
        }
    }
}
