//! How often intervals of 95 % hold the true value. Of many models, ways to end and seeds: the example `coverage` of the
//! crate `nets`, whose table stands in `docs/petri.md`.

use inorder_petri::inspect::{Settings, Watch, Wishes, examine, read};

#[test]
fn intervals_hold_the_mean_as_often_as_they_say() {
    let queue = "place q\ntransition a exponential rate 0.5\n out q\n\
        transition s exponential rate 1\n in q\n";
    let (mut held, mut trusted) = (0, 0);
    for seed in 1..=40 {
        let wishes = Wishes {
            simulate: true,
            simulation: Settings {
                precision: 0.1,
                seed: 1000 * seed + 1,
                ..Settings::default()
            },
            ..Wishes::default()
        };
        let net = read("queue", queue.as_bytes()).expect("reads");
        let found = examine(net, &wishes, &Watch::default()).expect("runs");
        let simulated = found.findings.simulated.expect("was wanted");
        if simulated.doubts.is_empty() {
            trusted += 1;
            held += u32::from(simulated.measures.places[0].tokens.covers(1.0));
        }
    }
    // Of 40 intervals of 95 %, fewer than 34 hold it with a probability of 0.3 %.
    assert!(
        trusted >= 38 && held * 40 >= 34 * trusted,
        "{held} of {trusted}"
    );
}
