//! Drawings: no overlaps, and all elements are present.

use crate::common;

use inorder_petri::draw::{Drawing, Frame, dot};
use inorder_petri::text::read;
use proptest::prelude::*;

fn overlap(a: &Frame, b: &Frame) -> bool {
    let apart = |a: f64, b: f64, sizes: f64| (a - b).abs() >= 0.5 * sizes - 1e-6;
    !apart(a.x, b.x, a.width + b.width) && !apart(a.y, b.y, a.height + b.height)
}

#[test]
fn dot_of_a_small_net() {
    let net = read(
        "x.net",
        "net \"a \\\"b\\\"\"\nplace p 2 capacity 3\nplace q\ntransition t immediate weight 2
        in p 2\n inhibit q\nout q\ntransition u exponential rate 1 servers infinite\nin q\nreset p\n",
    )
    .unwrap();
    let expected = r#"digraph "a \"b\"" {
  rankdir=LR;
  p0 [shape=circle, label="2 of 3", xlabel="p"];
  p1 [shape=circle, label="", xlabel="q"];
  t0 [shape=box, height=0.5, label="", width=0.06, style=filled, fillcolor=black, xlabel="t\nw 2"];
  t1 [shape=box, height=0.5, label="", width=0.2, xlabel="u\nλ 1 ×∞"];
  p0 -> t0 [label="2"];
  p1 -> t0 [arrowhead=odot];
  t0 -> p1;
  p1 -> t1;
  p0 -> t1 [arrowhead=normalnormal];
}
"#;
    assert_eq!(dot(&net), expected);
}

proptest! {
    #[test]
    fn nodes_do_not_overlap_and_stay_inside(net in common::any_net()) {
        let drawing = Drawing::of(&net);
        let (width, height) = drawing.size();
        let frames = drawing.frames();
        prop_assert_eq!(frames.len(), net.places.len() + net.transitions.len());
        for (i, a) in frames.iter().enumerate() {
            prop_assert!(a.x - 0.5 * a.width >= 0.0 && a.x + 0.5 * a.width <= width);
            prop_assert!(a.y - 0.5 * a.height >= 0.0 && a.y + 0.5 * a.height <= height);
            for b in &frames[..i] {
                prop_assert!(!overlap(a, b), "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn every_arc_is_drawn(net in common::any_net()) {
        let arcs: usize = net.transitions.iter().map(|t| t.arcs.len()).sum();
        let svg = Drawing::of(&net).svg();
        prop_assert_eq!(svg.matches("<path class").count(), arcs);
        prop_assert_eq!(svg.matches("<g>").count(), net.places.len() + net.transitions.len());
        prop_assert_eq!(dot(&net).matches(" -> ").count(), arcs);
    }
}
