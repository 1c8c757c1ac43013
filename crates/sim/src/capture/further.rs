//! The captures of `[[capture]]`: what passes their points is kept during the run, and their defects are applied behind it.

use std::io::{self, Write};

use inorder_base::random::Random;
use inorder_scenario::config::{Capture, CapturePoint, CapturedDirection, CopyKind, Tunnel};

use super::defects::{Captured, apply};
use crate::packet::End;

/// Frames kept for captures with defects.
#[derive(Default)]
pub(super) struct Further {
    plans: Vec<Capture>,
    seed: u64,
    /// What passed A, B and the point between the lines of routes.
    points: [Vec<Captured>; 3],
}

/// A capture with defects.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// Its name in the scenario.
    pub name: String,
    /// Its frames, in the order of the file.
    pub frames: Vec<Captured>,
}

fn place(point: CapturePoint) -> usize {
    match point {
        CapturePoint::A => 0,
        CapturePoint::B => 1,
        CapturePoint::Between => 2,
    }
}

impl Further {
    pub(super) fn new(plans: &[Capture], seed: u64) -> Self {
        Further {
            plans: plans.to_vec(),
            seed,
            points: Default::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// True if a capture is made at this point.
    pub(super) fn wants(&self, point: CapturePoint) -> bool {
        self.plans.iter().any(|plan| plan.at == point)
    }

    /// A frame passes a point. Its number is its place there, if it has none yet.
    pub(super) fn keep(&mut self, point: CapturePoint, frame: Captured) {
        if self.wants(point) {
            self.points[place(point)].push(frame);
        }
    }

    /// What passed between the lines of routes: the frames' numbers are those at the ends that sent them.
    pub(super) fn between(&self) -> &[Captured] {
        &self.points[2]
    }

    /// The captures with their defects.
    pub(super) fn captures(&self) -> impl Iterator<Item = Damaged> + '_ {
        let random = Random::new(self.seed, "captures");
        self.plans.iter().enumerate().map(move |(number, plan)| {
            let mut frames = self.points[place(plan.at)].clone();
            if plan.at == CapturePoint::Between {
                let numbered = frames.iter_mut().zip(1..);
                numbered.for_each(|(frame, number)| frame.originals = vec![number]);
            }
            Damaged {
                name: plan.name.clone(),
                frames: apply(frames, plan, &random.fork(number as u64)),
            }
        })
    }

    /// For the truth: each capture with its point, the bytes kept of its frames, and its defects in words, as JSON.
    pub(super) fn json(&self) -> String {
        let one = |plan: &Capture| {
            let at = match plan.at {
                CapturePoint::A => "snd",
                CapturePoint::B => "rcv",
                CapturePoint::Between => "between",
            };
            let kept = plan.cut.map_or("null".to_owned(), |cut| cut.to_string());
            let words = defects(plan).into_iter();
            let words: Vec<String> = words.map(|word| format!("\"capture: {word}\"")).collect();
            format!(
                "\"{}\": {{\"at\": \"{at}\", \"kept\": {kept}, \"traits\": [{}]}}",
                plan.name,
                words.join(", ")
            )
        };
        let all: Vec<String> = self.plans.iter().map(one).collect();
        format!("{{{}}}", all.join(", "))
    }
}

/// The defects of a capture in words.
fn defects(plan: &Capture) -> Vec<String> {
    let missing = match (plan.missing_run, plan.missing_above) {
        (_, 1..) => "lacks large frames",
        (2.., _) => "lacks frames in runs",
        _ => "lacks frames at random",
    };
    let copies = match plan.copies_as {
        CopyKind::Mirror => "alike",
        CopyKind::Routed => "routed",
        CopyKind::Tagged => "tagged",
    };
    let tunnel = match plan.tunnel {
        Tunnel::None => "",
        Tunnel::Vxlan => "in VXLAN",
        Tunnel::GtpU => "in GTP-U",
        Tunnel::Gre => "in GRE",
    };
    let step = match plan.step_back {
        true => "clock steps back",
        false => "clock steps forward",
    };
    let all = [
        (plan.begin_ns > 0, "begins late".to_owned()),
        (plan.end_ns.is_some(), "ends early".to_owned()),
        (
            plan.direction != CapturedDirection::Both,
            "one direction".to_owned(),
        ),
        (plan.missing > 0.0, missing.to_owned()),
        (plan.copies > 1, format!("{} times, {copies}", plan.copies)),
        (plan.swap_ns > 0, "directions change places".to_owned()),
        (plan.cut.is_some(), "frames cut".to_owned()),
        (plan.step_ns > 0, step.to_owned()),
        (plan.merge > 1, "frames merged".to_owned()),
        (plan.only.is_some(), "one connection".to_owned()),
        (plan.tunnel != Tunnel::None, tunnel.to_owned()),
        (plan.tunnel_part < 1.0, "part of a tunnel".to_owned()),
        (plan.vlans, "VLANs with equal ports".to_owned()),
    ];
    let words: Vec<String> = all
        .into_iter()
        .filter_map(|(has, word)| has.then_some(word))
        .collect();
    match words.is_empty() {
        true => vec!["whole".to_owned()],
        false => words,
    }
}

/// Writes which frames of the whole capture `frames` are, one line for each: `frame,from,original,at_ns`. `begin_ns` is the time
/// at which the run begins.
///
/// # Errors
/// If `out` cannot be written.
pub(super) fn write_frames(
    frames: &[Captured],
    begin_ns: i64,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "frame,from,original,at_ns")?;
    for (frame, number) in frames.iter().zip(1..) {
        let from = match frame.from {
            End::A => "snd",
            End::B => "rcv",
        };
        let number: u64 = number;
        for original in &frame.originals {
            writeln!(out, "{number},{from},{original},{}", begin_ns + frame.ts_ns)?;
        }
    }
    Ok(())
}
