//! A stage of a path: its impairment and its name.

use super::impairments::{READERS, STAGES, StageKind};
use crate::context::Context;
use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Kind, Text};
use crate::quantity::{self, require};
use crate::reader::{Reader, Table};
use crate::schema::{Form, Keys};
use crate::value::{Node, tables};

keys! {
    /// The keys of every stage.
    pub struct Label in "stage" {
        /// The kind of stage.
        kind: Text, required;
        /// Name for grid keys.
        name: Text, default "";
    }
}

impl Label {
    /// Two stages of one path must not have the same name, because a grid key would be ambiguous.
    pub(super) fn check_names(nodes: &[Node], path: &str) -> Result<(), Problem> {
        let names = nodes.iter().filter_map(|node| node.get("name"));
        let mut seen = Vec::new();
        for node in names {
            let name = node.show();
            let what = format!("name: a second stage of [[{path}]] is called \"{name}\"");
            let new = name.is_empty() || !seen.contains(&name);
            require(new, &node.place, &what, "a name of its own")?;
            seen.push(name);
        }
        Ok(())
    }
}

/// A stage and its name.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Stage {
    /// Name for grid keys; may be empty.
    pub name: String,
    /// The action.
    pub kind: StageKind,
}

impl Stage {
    fn read(node: &Node, context: &Context<'_>) -> Result<Self, Problem> {
        let kinds = || STAGES.iter().map(|section| section.name);
        let listed = || kinds().collect::<Vec<_>>().join(", ");
        let Some(kind) = node.get("kind") else {
            node.entries("a stage")?;
            let expected = format!("kind = one of {}", listed());
            return Err(Problem::new(&node.place, "a stage without kind", expected));
        };
        let word = quantity::text(kind)?;
        let found = STAGES.iter().zip(READERS);
        let mut found = found.filter(|(section, _)| section.name == word);
        let Some((section, (_, read))) = found.next() else {
            let what = format!("unknown kind of stage \"{word}\"");
            let problem = Problem::new(&kind.place, what, format!("one of {}", listed()));
            return Err(problem.nearest(&word, kinds()));
        };
        let sections = [const { &Label::SECTION }, *section];
        let r = Reader::new(&sections, node, context)?;
        Ok(Stage {
            name: Label::read(&r)?.name,
            kind: read(&r)?,
        })
    }
}

/// A list of stages, `[[...]]`.
#[derive(Clone, Copy, Debug)]
pub enum Stages {}

impl Kind for Stages {
    type Value = Vec<Stage>;
    const FORM: Form = Form::Stages;
    fn read(node: &Node, context: &Context<'_>) -> Result<Vec<Stage>, Problem> {
        let nodes = tables(node)?.iter();
        nodes.map(|node| Stage::read(node, context)).collect()
    }
    fn blank() -> Node {
        crate::kind::blank_list()
    }
}
