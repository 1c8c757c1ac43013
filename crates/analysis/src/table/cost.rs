//! "What it cost" and "What to do": the two short sections below the verdict.

use std::io::{self, Write};

use inorder_detect::{Control, FlowReport};
use inorder_report::number::{count, plural, rate, time};
use inorder_report::text::paragraph;

use super::Style;
use crate::cure::{Action, Cure};
use crate::headline::{Headline, capital, cost_of};
use crate::model::Analysis;

/// Actions shown.
const MAX_ACTIONS: usize = 3;
/// From this confidence on, the congestion control is named without doubt.
const SURE: f64 = 0.75;

/// Writes both sections.
pub(super) fn write(
    out: &mut dyn Write,
    said: &Headline,
    analysis: &Analysis,
    style: &Style,
) -> io::Result<()> {
    let (bold, plain) = style.bold();
    let cost = cost_sentences(analysis);
    if !cost.is_empty() {
        writeln!(out, "\n{bold}What it cost{plain}")?;
        paragraph(out, &cost.join(" "), "", style.width)?;
    }
    let cure = Cure::beside(said, analysis);
    if cure.actions.is_empty() && cure.none.is_none() {
        return Ok(());
    }
    writeln!(out, "\n{bold}What to do{plain}")?;
    if let Some(none) = &cure.none {
        paragraph(out, &none.text, "", style.width)?;
    }
    for (number, action) in (1..).zip(cure.actions.iter().take(MAX_ACTIONS)) {
        let text = format!("{number}. {} {}", action.advice, expected(action));
        paragraph(out, &text, "   ", style.width)?;
        for command in &action.commands {
            write_command(out, command, style.width)?;
        }
    }
    Ok(())
}

/// Writes a command; one that is too long is continued as a shell continues it, so that it can be copied.
fn write_command(out: &mut dyn Write, command: &str, width: Option<usize>) -> io::Result<()> {
    const INDENT: &str = "       ";
    const CONTINUED: &str = " \\";
    let room = width.unwrap_or(usize::MAX).saturating_sub(CONTINUED.len());
    let mut line = INDENT.to_owned();
    for word in command.split(' ') {
        let begun = line.len() > INDENT.len();
        if begun && line.len() + 1 + word.len() > room {
            writeln!(out, "{line}{CONTINUED}")?;
            line = format!("{INDENT}  {word}");
            continue;
        }
        if begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

/// What an action brings and what speaks for it, where it holds, and what else it does, as sentences.
pub(crate) fn expected(action: &Action) -> String {
    let expectation = capital(&action.expectation());
    let more = [action.holds, action.warning].into_iter();
    more.filter(|text| !text.is_empty()).fold(
        format!("{expectation}: {}.", action.evidence),
        |text, more| format!("{text} {more}"),
    )
}

/// What the unnecessary reductions of all flows cost; nothing where there were none.
pub(crate) fn cost_sentences(analysis: &Analysis) -> Vec<String> {
    let hurt: Vec<&FlowReport> = analysis
        .flows
        .iter()
        .filter(|f| f.cost.unnecessary > 0)
        .collect();
    let Some(worst) = hurt.iter().max_by(|a, b| missed(a).total_cmp(&missed(b))) else {
        return Vec::new();
    };
    let reductions: u64 = hurt.iter().map(|f| f.cost.unnecessary).sum();
    let restored: u64 = hurt.iter().map(|f| f.cost.restored).sum();
    let mut first = plural(reductions, "unnecessary reduction");
    if hurt.len() > 1 {
        first += &format!(" in {}", plural(hurt.len() as u64, "flow"));
    }
    if restored > 0 {
        first += &format!(", {} of them undone", count(restored));
    }
    let mut all = vec![format!("{first}.")];
    all.extend(goodput(worst, hurt.len() > 1));
    all.extend(times(&hurt));
    all
}

/// Bits per second that the flow missed.
fn missed(flow: &FlowReport) -> f64 {
    let without = flow.cost.without_bps().unwrap_or(0);
    without.saturating_sub(flow.cost.goodput_bps.unwrap_or(0)) as f64
}

fn goodput(flow: &FlowReport, one_of_several: bool) -> Option<String> {
    let (now, lost) = (flow.cost.goodput_bps?, flow.cost.lost?);
    let without = flow.cost.without_bps()?;
    let who = if one_of_several {
        format!("The worst one, {}, reached", flow.flow)
    } else {
        "Goodput was".to_owned()
    };
    let basis = match flow.cost.control {
        Control::Unknown => "the congestion control could not be recognised".to_owned(),
        control if flow.cost.control_confidence >= SURE => {
            format!("congestion control: {}", control.name().to_uppercase())
        }
        control => format!(
            "congestion control: probably {}",
            control.name().to_uppercase()
        ),
    };
    if lost.high <= 0.0 {
        return Some(format!("{who} {}; they cost nothing of it.", rate(now)));
    }
    let without = match lost.low > 0.0 {
        true => format!("; without them it would have been about {}", rate(without)),
        false => String::new(),
    };
    Some(format!(
        "{who} {}{without}: they cost {} ({basis}).",
        rate(now),
        cost_of(&lost),
    ))
}

fn times(flows: &[&FlowReport]) -> Option<String> {
    let sum = |of: fn(&FlowReport) -> i64| flows.iter().map(|f| of(f)).fold(0, i64::saturating_add);
    let (recovery, timeout) = (sum(|f| f.cost.recovery_ns), sum(|f| f.cost.timeout_ns));
    (recovery > 0 || timeout > 0).then(|| match timeout {
        0 => format!("{} went by in unnecessary recoveries.", time(recovery)),
        _ => format!(
            "{} went by in unnecessary recoveries, and {} in silence before time-outs.",
            time(recovery),
            time(timeout)
        ),
    })
}
