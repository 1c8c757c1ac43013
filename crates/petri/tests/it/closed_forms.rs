//! Further models with closed forms, written in the text format: each formula must be within the interval of the
//! simulation, and where a net can be solved exactly, equal to the solution.
//!
//! The intervals have a confidence of 99.9 %, so a true value is outside in one of a thousand cases. `--nocapture`
//! prints all.

use crate::common::runs::{
    birth_death, holds, mean_of, net, pollaczek_khinchine, raced, single_server, sum,
};
use inorder_petri::markov::Chain;
use inorder_petri::race::Memory;

/// Simulates what a query asks of a net for 200,000 units of time.
#[track_caller]
fn simulate(name: &str, query: &str, exact: f64, text: &str) {
    simulate_with(Memory::Enabling, name, query, exact, text);
}

#[track_caller]
fn simulate_with(memory: Memory, name: &str, query: &str, exact: f64, text: &str) {
    let net = net(text);
    let measures = raced(&net, memory, 200_000.0, vec![sum(&net, query)]);
    holds(name, measures.rewards[0], exact, 0.1);
}

/// The exact solution; places without a limit have a capacity at which they are practically never full.
#[track_caller]
fn solve(name: &str, query: &str, exact: f64, text: &str) {
    let net = net(text);
    let sum = sum(&net, query);
    let chain = Chain::new(&net, 200_000).unwrap();
    let solution = chain.steady_state().unwrap();
    let found = solution.expected(|marking| sum.value(&net, marking));
    println!("{name:<44} exact {exact:9.5}  solved {found:9.5}");
    let error = (found / exact - 1.0).abs();
    assert!(error < 1e-6, "{name}: {found}, not {exact}");
}

#[test]
fn single_servers_with_families_of_services() {
    // Second moments: (1 + variation) for lognormal; gamma(2) for Weibull of shape 2, scaled to the mean 1;
    // (a a + b b + c c + a b + a c + b c) / 6 for triangular; of a normal cut off 5 deviations below its mean.
    let gamma = libm::tgamma(1.5);
    for (name, service, second) in [
        ("M/lognormal/1", "lognormal mean 1 sd 0.7".to_owned(), 1.49),
        (
            "M/Weibull/1",
            format!("weibull shape 2 scale {}", 1.0 / gamma),
            1.0 / (gamma * gamma),
        ),
        (
            "M/triangular/1",
            "triangular low 0 mode 1 high 2".to_owned(),
            (1.0 + 4.0 + 2.0) / 6.0,
        ),
        ("M/normal/1", "normal mean 1 sd 0.2".to_owned(), 1.04),
        ("M/D/1", "deterministic 1".to_owned(), 1.0),
        ("M/U/1", "uniform 0 2".to_owned(), 4.0 / 3.0),
        ("M/E4/1", "erlang 4 rate 4".to_owned(), 1.25),
        ("M/empirical/1", "empirical 0.5:2 2:1".to_owned(), 1.5),
    ] {
        let exact = pollaczek_khinchine(0.6, 1.0, second);
        simulate(
            name,
            "E(queue)",
            exact,
            &single_server("exponential rate 0.6", &service),
        );
    }
}

/// The mean number with a renewal process of arrivals and one exponential server of rate 1: rho / (1 - sigma), where
/// sigma is the root of the Laplace transform of the times between arrivals at 1 - sigma (Kleinrock I, 6.14).
fn g_m_1(rho: f64, transform: impl Fn(f64) -> f64) -> f64 {
    let sigma = (0..10_000).fold(0.5, |sigma, _| transform(1.0 - sigma));
    rho / (1.0 - sigma)
}

#[test]
fn arrivals_that_are_not_memoryless() {
    let regular = g_m_1(0.7, |s| libm::exp(-s / 0.7));
    simulate(
        "D/M/1",
        "E(queue)",
        regular,
        &single_server("deterministic 1.4285714285714286", "exponential rate 1"),
    );
    let erlang = g_m_1(0.7, |s| (1.4 / (1.4 + s)) * (1.4 / (1.4 + s)));
    simulate(
        "E2/M/1",
        "E(queue)",
        erlang,
        &single_server("erlang 2 rate 1.4", "exponential rate 1"),
    );
    // Batches of three: rho (k + 1) / (2 (1 - rho)) (Gross and Harris, "Fundamentals of Queueing Theory", 3.1).
    let batches = "place queue 0 capacity 400\ntransition arrive exponential rate 0.2\n out queue 3\n\
        transition serve exponential rate 1\n in queue\n";
    solve("M[3]/M/1", "E(queue)", 0.6 * 4.0 / (2.0 * 0.4), batches);
}

#[test]
fn servers_that_take_two_fail_or_go_on_vacation() {
    // Up to two are served together, and one who arrives joins a single one: a geometric number with the root of
    // r r + r = lambda / mu (Gross and Harris, 3.2).
    let root = (libm::sqrt(1.0 + 4.0 * 1.2) - 1.0) / 2.0;
    let bulk = "place queue 0 capacity 400\ntransition arrive exponential rate 1.2\n out queue\n\
        transition two exponential rate 1\n in queue 2\n\
        transition one exponential rate 1\n in queue\n inhibit queue 2\n";
    solve("M/M[2]/1", "E(queue)", root / (1.0 - root), bulk);
    // A server that fails at rate a, also when idle, and is repaired at rate b (B. Avi-Itzhak, P. Naor, "Some queuing
    // problems with the service station subject to breakdown", 1963, model A).
    let (l, m, a, b) = (0.4, 1.0, 0.1, 0.5);
    let exact = l * ((a + b) * (a + b) + a * m) / ((a + b) * (b * m - l * (a + b)));
    let breakdowns = "place queue 0 capacity 400\nplace up 1\nplace down\n\
        transition arrive exponential rate 0.4\n out queue\n\
        transition serve exponential rate 1\n in queue\n read up\n\
        transition fail exponential rate 0.1\n in up\n out down\n\
        transition repair exponential rate 0.5\n in down\n out up\n";
    solve("M/M/1 with breakdowns", "E(queue)", exact, breakdowns);
    // Vacations of length 2 whenever nobody waits: the number in queue grows by lambda V / 2 (B. T. Doshi, "Queueing
    // systems with vacations", 1986).
    let vacations = "place queue\nplace ready\nplace busy\nplace away 1\n\
        transition arrive exponential rate 0.5\n out queue\n\
        transition leave immediate\n in ready\n inhibit queue 1\n out away\n\
        transition return deterministic 2\n in away\n out ready\n\
        transition start immediate\n in ready\n in queue\n out busy\n\
        transition serve deterministic 1\n in busy\n out ready\n";
    let exact = pollaczek_khinchine(0.5, 1.0, 1.0) + 0.5 * 1.0;
    simulate("M/D/1 with vacations", "E(queue + busy)", exact, vacations);
    // A server that waits until four are there: (N - 1) / 2 more (M. Yadin, P. Naor, "Queueing systems with a
    // removable service station", 1963).
    let policy = "place queue 0 capacity 400\nplace off 1\nplace on\n\
        transition arrive exponential rate 0.6\n out queue\n\
        transition open immediate\n in off\n read queue 4\n out on\n\
        transition serve exponential rate 1\n in queue\n read on\n\
        transition close immediate\n in on\n inhibit queue 1\n out off\n";
    solve(
        "M/M/1 with an N-policy of 4",
        "E(queue)",
        0.6 / 0.4 + 1.5,
        policy,
    );
}

#[test]
fn priorities() {
    // Class 1 interrupts class 2; both are exponential, so that the first class sees M/M/1 and all together, too.
    let preemptive = "place first 0 capacity 150\nplace second 0 capacity 300\n\
        transition come1 exponential rate 0.3\n out first\n\
        transition come2 exponential rate 0.4\n out second\n\
        transition serve1 exponential rate 1\n in first\n\
        transition serve2 exponential rate 1\n in second\n inhibit first 1\n";
    solve("preemptive: first class", "E(first)", 0.3 / 0.7, preemptive);
    solve(
        "preemptive: second class",
        "E(second)",
        0.7 / 0.3 - 0.3 / 0.7,
        preemptive,
    );
    // Without interruption, services of 1 and 0.5 (A. Cobham, "Priority assignment in waiting line problems", 1954).
    let rest = (0.3 * 1.0 + 0.6 * 0.25) / 2.0;
    let (rho1, rho) = (0.3, 0.6);
    let polite = "place first\nplace second\nplace idle 1\nplace one\nplace two\n\
        transition come1 exponential rate 0.3\n out first\n\
        transition come2 exponential rate 0.6\n out second\n\
        transition start1 immediate priority 2\n in first\n in idle\n out one\n\
        transition start2 immediate priority 1\n in second\n in idle\n out two\n\
        transition end1 deterministic 1\n in one\n out idle\n\
        transition end2 deterministic 0.5\n in two\n out idle\n";
    simulate(
        "head of line: first class",
        "E(first)",
        0.3 * rest / (1.0 - rho1),
        polite,
    );
    let second = 0.6 * rest / ((1.0 - rho1) * (1.0 - rho));
    simulate("head of line: second class", "E(second)", second, polite);
    // The second class continues where it was interrupted (Kleinrock II, 3.39): memory by age.
    let stay = 0.5 / (1.0 - rho1) + rest / ((1.0 - rho1) * (1.0 - rho));
    let resumed = "place first\nplace second\n\
        transition come1 exponential rate 0.3\n out first\n\
        transition come2 exponential rate 0.6\n out second\n\
        transition serve1 deterministic 1\n in first\n\
        transition serve2 deterministic 0.5\n in second\n inhibit first 1\n";
    simulate_with(
        Memory::Age,
        "preemptive resume: second class",
        "E(second)",
        0.6 * stay,
        resumed,
    );
}

/// Blocking with `load` and `servers`, by the recursion of Erlang's formula.
fn erlang_b(load: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |b, n| load * b / (f64::from(n) + load * b))
}

#[test]
fn losses_and_impatience() {
    let loss = |service: &str| {
        format!(
            "place free 5\nplace held\ntransition seize exponential rate 3\n in free\n out held\n\
             transition leave {service} servers infinite\n in held\n out free\n"
        )
    };
    solve(
        "M/M/5/5: blocked",
        "P(free = 0)",
        erlang_b(3.0, 5),
        &loss("exponential rate 1"),
    );
    simulate(
        "M/D/5/5: blocked",
        "P(free = 0)",
        erlang_b(3.0, 5),
        &loss("deterministic 1"),
    );
    let unlimited = "place busy\ntransition come exponential rate 2\n out busy\n\
        transition leave lognormal mean 1.5 sd 2 servers infinite\n in busy\n";
    simulate("M/G/infinity: busy", "E(busy)", 3.0, unlimited);
    simulate(
        "M/G/infinity: P(2 busy)",
        "P(busy = 2)",
        4.5 * libm::exp(-3.0),
        unlimited,
    );
    // Two classes that take one and two of ten places: the recursion of Kaufman and Roberts, 1981.
    let (narrow, wide) = (3.0, 1.5);
    let mut weights = vec![1.0];
    for n in 1..=10usize {
        let before = |k: usize| n.checked_sub(k).map_or(0.0, |at| weights[at]);
        weights.push((narrow * before(1) + wide * 2.0 * before(2)) / n as f64);
    }
    let blocked = (weights[9] + weights[10]) / weights.iter().sum::<f64>();
    let shared = "place free 10\nplace narrow\nplace wide\n\
        transition seize1 exponential rate 3\n in free\n out narrow\n\
        transition seize2 exponential rate 1.5\n in free 2\n out wide\n\
        transition leave1 exponential rate 1 servers infinite\n in narrow\n out free\n\
        transition leave2 exponential rate 1 servers infinite\n in wide\n out free 2\n";
    solve(
        "two widths: the wide one blocked",
        "P(free < 2)",
        blocked,
        shared,
    );
    // Customers leave at rate 0.5 each while they wait: a birth-death process.
    let p = birth_death(150, |_| 1.4, |n| 1.0 + 0.5 * f64::from(n - 1));
    let impatient = "place waiting 0 capacity 150\nplace idle 1\nplace busy\n\
        transition come exponential rate 1.4\n out waiting\n\
        transition start immediate\n in waiting\n in idle\n out busy\n\
        transition serve exponential rate 1\n in busy\n out idle\n\
        transition leave exponential rate 0.5 servers infinite\n in waiting\n";
    solve(
        "M/M/1 with impatience",
        "E(waiting + busy)",
        mean_of(&p, |n| n),
        impatient,
    );
}

#[test]
fn customers_who_come_back() {
    // Retrials at rate 0.5 each: rho (lambda + rho theta) / ((1 - rho) theta) in orbit (G. Falin, J. Templeton,
    // "Retrial Queues", 1997, 1.2).
    let retrial = "place orbit 0 capacity 300\nplace idle 1\nplace busy\nplace here 0 capacity 1\n\
        transition come exponential rate 0.6\n out here\n\
        transition again exponential rate 0.5 servers infinite\n in orbit\n out here\n\
        transition start immediate priority 2\n in here\n in idle\n out busy\n\
        transition wait immediate priority 1\n in here\n out orbit\n\
        transition serve exponential rate 1\n in busy\n out idle\n";
    let exact = 0.6 * (0.6 + 0.6 * 0.5) / (0.4 * 0.5);
    solve("M/M/1 with retrials: orbit", "E(orbit)", exact, retrial);
    // After the service, 30 % of the customers queue again: a product form (J. R. Jackson, 1957).
    let feedback = "place queue 0 capacity 300\nplace done\n\
        transition come exponential rate 0.5\n out queue\n\
        transition serve exponential rate 1\n in queue\n out done\n\
        transition again immediate weight 3\n in done\n out queue\n\
        transition leave immediate weight 7\n in done\n";
    let rho = 0.5 / 0.7;
    solve(
        "M/M/1 with feedback",
        "E(queue)",
        rho / (1.0 - rho),
        feedback,
    );
    // A central server and two disks with six jobs (J. P. Buzen, "Computational algorithms for closed queueing
    // networks", 1973): the central server is busy G(5) / G(6) of the time.
    let central = "place cpu 6\nplace choice\nplace disk1\nplace disk2\n\
        transition compute exponential rate 1\n in cpu\n out choice\n\
        transition first immediate weight 6\n in choice\n out disk1\n\
        transition second immediate weight 4\n in choice\n out disk2\n\
        transition read1 exponential rate 0.5\n in disk1\n out cpu\n\
        transition read2 exponential rate 0.8\n in disk2\n out cpu\n";
    let mut g = [1.0; 7];
    // Relative utilisations: 1 for the server, 0.6 / 0.5 and 0.4 / 0.8 for the disks.
    for demand in [0.6 / 0.5, 0.4 / 0.8] {
        for n in 1..g.len() {
            g[n] += demand * g[n - 1];
        }
    }
    solve("central server: busy", "P(cpu > 0)", g[5] / g[6], central);
}

/// Two equal queues with one server who needs `switch` to go from one to the other.
fn polling(is_gated: bool) -> String {
    let mut net = String::from("place way1 1\nplace way2\n");
    for (at, next) in [(1, 2), (2, 1)] {
        net += &format!(
            "place queue{at}\nplace gate{at}\nplace open{at}\nplace at{at}\nplace busy{at}\n\
             transition come{at} exponential rate 0.3\n out queue{at}\n\
             transition arrive{at} deterministic 0.5\n in way{at}\n out open{at}\n"
        );
        // The gate closes when the server comes; exhaustive service lets everybody through who comes meanwhile.
        net += &if is_gated {
            format!(
                "transition enter{at} immediate priority 3\n in queue{at}\n read open{at}\n out gate{at}\n\
                 transition close{at} immediate priority 2\n in open{at}\n out at{at}\n"
            )
        } else {
            format!(
                "transition enter{at} immediate priority 3\n in queue{at}\n read at{at}\n out gate{at}\n\
                 transition stay{at} immediate priority 3\n in queue{at}\n read busy{at}\n out gate{at}\n\
                 transition close{at} immediate priority 2\n in open{at}\n out at{at}\n"
            )
        };
        net += &format!(
            "transition start{at} immediate priority 2\n in gate{at}\n in at{at}\n out busy{at}\n\
             transition serve{at} deterministic 1\n in busy{at}\n out at{at}\n\
             transition go{at} immediate priority 1\n in at{at}\n out way{next}\n"
        );
    }
    net
}

#[test]
fn a_server_that_walks_between_two_queues() {
    // H. Takagi, "Analysis of Polling Systems", 1986: the mean wait of equal queues with constant walks r is
    // (N lambda b2 + r (N - rho)) / (2 (1 - rho)) with exhaustive service, and r (N + rho) with gates.
    let (n, lambda, second, r) = (2.0, 0.3, 1.0, 0.5);
    let rho = n * lambda;
    for (name, is_gated, sign) in [
        ("polling, exhaustive", false, -1.0),
        ("polling, gated", true, 1.0),
    ] {
        let wait = (n * lambda * second + r * (n + sign * rho)) / (2.0 * (1.0 - rho));
        let waiting = "E(queue1 + gate1)";
        simulate(name, waiting, lambda * wait, &polling(is_gated));
    }
}
