//! Lists the names that a scenario may use, and its keys.

use std::io::{self, Write};

use inorder_scenario::config::STAGES;
use inorder_sim::MEASURES;
use inorder_tcp::{congestion, dialects, loss, profiles};

/// Writes the registries, the defaults, or the list of keys.
pub(super) fn write(out: &mut dyn Write, registries: bool, defaults: bool) -> io::Result<()> {
    if registries {
        return write_registries(out);
    }
    let text = if defaults {
        inorder_scenario::defaults()
    } else {
        inorder_scenario::markdown()
    };
    write!(out, "{text}")
}

fn write_registries(out: &mut dyn Write) -> io::Result<()> {
    let congestion = congestion::REGISTRY
        .iter()
        .map(|e| (e.name, e.about, e.source));
    section(out, "Congestion controls (sender.congestion)", congestion)?;
    let loss = loss::REGISTRY.iter().map(|e| (e.name, e.about, e.source));
    section(out, "Loss detections (sender.loss_detection)", loss)?;
    let profiles = profiles::PROFILES.iter().map(|p| (p.name, p.about, ""));
    section(out, "Profiles (sender.profile)", profiles)?;
    let dialects = dialects::DIALECTS
        .iter()
        .map(|d| (d.name, d.about, d.source));
    section(out, "Dialects (sender.dialect)", dialects)?;
    let stages = STAGES.iter().map(|s| (s.name, s.about(), ""));
    section(out, "Stages of paths (kind)", stages)?;
    let measures = MEASURES
        .iter()
        .map(|m| (m.field.name, m.field.about, m.field.unit));
    section(out, "Measures", measures)
}

fn section<'a>(
    out: &mut dyn Write,
    title: &str,
    entries: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
) -> io::Result<()> {
    writeln!(out, "{title}")?;
    for (name, about, source) in entries {
        let source = if source.is_empty() {
            String::new()
        } else {
            format!(" [{source}]")
        };
        writeln!(out, "  {name:<22} {about}{source}")?;
    }
    writeln!(out)
}
