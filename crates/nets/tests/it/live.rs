//! Nets within another program: tokens from outside, and those that come out.

use inorder_nets::{Live, NetError, Port, Program, Stop, Study};

const STATION: &str = "coloured net station
record job
  number: int 0..1000
  came: time
place waiting: job
place server 1
sink out: job
transition serve
  in job: waiting
  in server
  delay 3 ns
  out server
  out out: job
run 1 us
";

fn study(text: &str) -> Study {
    let mut none = |_: &str, name: &str| Err(format!("no file {name}"));
    let program = Program::read("station", text, &mut none).expect("reads");
    program.study(&[]).expect("checks")
}

fn port<'p>(place: &'p str, fields: &'p [&'p str]) -> Port<'p> {
    Port { place, fields }
}

fn live(entry: Port<'_>, exit: Port<'_>) -> Result<Live, NetError> {
    study(STATION).live(1, &[entry], &[exit])
}

#[test]
fn jobs_are_served_one_after_the_other() {
    let fields: &[&str] = &["number", "came"];
    let mut net = live(port("waiting", fields), port("out", fields)).expect("is a net");
    let mut seen = Vec::new();
    let mut run = |net: &mut Live, ticks| {
        net.run_until(ticks, &mut |now, exit, values| {
            seen.push((now, exit, values.to_vec()));
            true
        })
    };
    assert_eq!((run(&mut net, 500), net.now()), (Ok(Stop::Dead), 500));
    net.put(0, &[7, 500]).expect("fits");
    net.put(0, &[8, 501]).expect("fits");
    // A tick is a picosecond.
    assert_eq!(run(&mut net, 1_000), Ok(Stop::TimeReached));
    assert_eq!((net.next_time(), net.waiting(0)), (Some(3_500), 1));
    assert_eq!(
        (net.plain("server", 0), net.plain("out", 0)),
        (Some(0), None)
    );
    let mut held = Vec::new();
    net.each_token(&mut |token| {
        held.push((token.at.to_owned(), token.of_firing, token.field("number")));
        assert_eq!(token.field("colour"), None);
    });
    assert_eq!(
        held,
        [
            ("waiting".to_owned(), None, Some(8)),
            ("serve".to_owned(), Some(0), Some(7))
        ]
    );
    assert_eq!(run(&mut net, u64::MAX), Ok(Stop::Dead));
    assert_eq!(net.now(), 6_500);
    assert_eq!(seen, [(3_500, 0, vec![7, 500]), (6_500, 0, vec![8, 501])]);
}

#[test]
fn the_program_ends_a_run() {
    let mut net = live(port("waiting", &[]), port("out", &[])).expect("is a net");
    net.put(0, &[]).expect("fits");
    net.put(0, &[]).expect("fits");
    let stopped = net.run_until(u64::MAX, &mut |_, _, _| false);
    assert_eq!((stopped, net.now()), (Ok(Stop::Observer), 3_000));
}

#[test]
fn wrong_ports_and_values_are_refused() {
    let message = |entry, exit| match live(entry, exit) {
        Ok(_) => String::new(),
        Err(error) => error.problem,
    };
    let out = port("out", &[]);
    assert!(message(port("waitng", &[]), out).contains("did you mean waiting"));
    assert!(message(port("waiting", &["numbr"]), out).contains("did you mean number"));
    assert!(message(port("server", &[]), out).contains("tokens of a record"));
    assert!(message(out, out).contains("no sink"));
    let mut net = live(port("waiting", &["number"]), out).expect("is a net");
    let wrong = |error: Result<(), NetError>| error.expect_err("is refused").problem;
    assert!(wrong(net.put(0, &[1001])).contains("0 to 1000"));
    assert!(wrong(net.put(0, &[-1])).contains("0 to 1000"));
    assert!(wrong(net.put(1, &[])).contains("entry"));
}

#[test]
fn an_account_has_the_sums_of_each_net_of_a_chain() {
    let text = STATION
        .replace("run 1 us", "run 50 at out\nmeasure served = count(serve)\n")
        .replace(
            "sink out: job\n",
            "chain hop below 2 from out to waiting\nsink out: job\nif hop == 0\nplace source 1\ntransition arrive\n  in \
             source\n  delay 2 ns\n  out source\n  out waiting: {came = now}\nend\n",
        );
    let rans = study(&text).account(1, &|_| true).expect("runs");
    let served: Vec<&[(String, f64)]> = rans.iter().map(|ran| ran.measures.as_slice()).collect();
    // The warm-up is a tenth of the run.
    assert_eq!(served[1], [("served".to_owned(), 45.0)]);
    let last = &rans[1];
    assert_eq!((last.warm.counted, last.end.counted), (5, 50));
    // The first job comes at 2 ns, and each net serves one every 3 ns.
    assert_eq!((last.warm.ticks, last.end.ticks), (20_000, 155_000));
    assert_eq!(last.layout.places, ["waiting", "server", "out"]);
    assert_eq!(last.initial, [0, 1, 0]);
    assert_eq!(rans[0].layout.places[0], "waiting");
}
