//! A scenario as plain data, every default filled in. Times are nanoseconds, rates bits per
//! second, sizes bytes, shares and probabilities 0 to 1.

mod endpoint;
mod flow;
mod link;
mod run;
mod stage;

pub use endpoint::{DelayedAck, Endpoint};
pub use flow::{Application, Arrivals, Direction, Flow, Gaps, Probe};
pub use link::{Framing, Link, Queue, RateStep};
pub use run::{Card, Output, Run};
pub use stage::{
    CrossSource, Delay, Distribution, Loss, Netem, Pattern, Policy, Radio, Stage, StageKind,
    TokenBucket,
};

use crate::Registries;
use crate::error::{Place, Problem};
use crate::quantity::text;
use crate::reader::{Reader, tables};
use crate::schema::{CARD, OUTPUT, RUN, SCENARIO};
use crate::value::Node;

/// One cell of a scenario: all a simulator must know.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// One line for people.
    pub title: String,
    /// How long and how often.
    pub run: Run,
    /// TCP flows.
    pub flows: Vec<Flow>,
    /// Packets without TCP.
    pub probes: Vec<Probe>,
    /// From A to B.
    pub forward: Vec<Stage>,
    /// From B to A.
    pub reverse: Vec<Stage>,
    /// B's card.
    pub receiver_card: Option<Card>,
    /// A's card.
    pub sender_card: Option<Card>,
    /// What is recorded.
    pub output: Output,
}

impl Config {
    /// Reads a tree.
    pub(crate) fn read(tree: &Node, names: &Registries) -> Result<Self, Problem> {
        let r = Reader::new(&SCENARIO, tree, names)?;
        let nothing = Node::empty(&Place::Default);
        let table = |key, section| {
            let node = r.child(key).unwrap_or(&nothing);
            Reader::new(section, node, names)
        };
        let card = |key| {
            let node = r.child(key);
            node.map(|node| Card::read(&Reader::new(&CARD, node, names)?))
                .transpose()
        };
        let config = Config {
            title: r.get("title", text)?,
            run: Run::read(&table("run", &RUN)?)?,
            flows: list(r.child("flow"), |node| Flow::read(node, names))?,
            probes: list(r.child("probe"), |node| Probe::read(node, names))?,
            forward: list(r.child("forward"), |node| Stage::read(node, names))?,
            reverse: list(r.child("reverse"), |node| Stage::read(node, names))?,
            receiver_card: card("receiver_card")?,
            sender_card: card("sender_card")?,
            output: Output::read(&table("output", &OUTPUT)?)?,
        };
        if config.flows.is_empty() && config.probes.is_empty() {
            let expected = "at least one [[flow]] or [[probe]]";
            return Err(Problem::new(&tree.place, "nothing is sent", expected));
        }
        Ok(config)
    }
}

fn list<T>(
    node: Option<&Node>,
    read: impl Fn(&Node) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    tables(node)?.iter().map(read).collect()
}
