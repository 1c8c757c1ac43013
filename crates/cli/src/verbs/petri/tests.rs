//! From options and a net to the output.

use clap::Parser;

use super::*;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

const REPAIR: &str = "net repair\nplace working 6\nplace broken\n\
    transition fail exponential rate 0.1 servers infinite\n in working\n out broken\n\
    transition repair exponential mean 2 servers 2\n in broken\n out working\n";

fn find(source: &str, options: &[&str]) -> Result<Document, CliError> {
    let words = ["petri", "some.net"]
        .into_iter()
        .chain(options.iter().copied());
    let net = text::read("some.net", source).unwrap();
    let findings = examine(
        &Command::parse_from(words).args,
        Path::new("some.net"),
        &net,
    )?;
    Ok(Document { net, findings })
}

fn json(document: &Document) -> serde_json::Value {
    let mut out = Vec::new();
    let json = &mut Json::new(&mut out).with_details(true);
    json.object(&columns::columns(document), document).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_columns_are_in_order() {
    assert_eq!(inorder_report::problems(DOCUMENT), Vec::<String>::new());
}

#[test]
fn simulation_and_exact_solution_agree_in_json() {
    for how in [
        &["--simulate"][..],
        &["--simulate", "--replications", "32"],
        &["--simulate", "--reserve"],
    ] {
        let options = [how, &["--exact", "--confidence", "0.999"]].concat();
        let document = find(REPAIR, &options).ok().unwrap();
        let found = json(&document);
        for (kind, name, what) in [
            ("places", "broken", "tokens"),
            ("transitions", "repair", "throughput"),
        ] {
            // Tokens that are reserved by a firing in progress are in no place.
            if options.contains(&"--reserve") && kind == "places" {
                continue;
            }
            let exact = found["exact"][kind][name][what].as_f64().unwrap();
            let simulated = &found["simulated"][kind][name][what];
            let off = (simulated["mean"].as_f64().unwrap() - exact).abs();
            assert!(
                off <= simulated["half_width"].as_f64().unwrap(),
                "{how:?} {name}: {found:#}"
            );
        }
    }
}

#[test]
fn structure_is_printed_as_text() {
    let document = find(REPAIR, &["--invariants", "--reachability", "100"])
        .ok()
        .unwrap();
    let mut out = Vec::new();
    table::write(&document.net, &document.findings, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    for line in [
        "P-invariant  working + broken = 6",
        "all 7 markings",
        "deadlocks: 0",
        "home states: 7",
    ] {
        assert!(out.contains(line), "{line} is not in\n{out}");
    }
    assert!(!out.contains("simulated"), "{out}");
}

#[test]
fn impossible_requests_are_reported_in_one_line() {
    let clock = "place p 1\ntransition tick deterministic 2\n in p\n out p\n";
    let error = find(clock, &["--exact"]).err().unwrap().to_string();
    assert!(
        error.starts_with("some.net: line 2: transition tick"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
}
