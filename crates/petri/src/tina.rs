//! Nets in the textual format of TINA (`.net`), as far as they are place/transition nets.
//!
//! | line | meaning |
//! |---|---|
//! | `net NAME` | the name of the net |
//! | `pl PLACE [: LABEL] [(TOKENS)] [INPUTS -> OUTPUTS]` | a place; its arcs may be given here, from and to transitions |
//! | `tr TRANSITION [: LABEL] [INTERVAL] [INPUTS -> OUTPUTS]` | a transition with its arcs from and to places |
//! | `lb ...`, `nt ...`, `# ...` | labels and notes, which change nothing and are skipped |
//!
//! An arc is a node, `node*N` with a weight, and among the inputs of a transition also `place?N`, which requires N
//! tokens without taking them, and `place?-N`, which forbids N or more. Numbers may end in `K` (thousands) or `M`
//! (millions). Names with other characters than letters, digits, `_` and `'` stand in braces.
//!
//! The transitions of such a net have no delays; here they are exponential with rate 1, as in
//! [`pnml`](crate::pnml). Firing intervals other than `[0,w[`, priorities (`pr`) and stopwatch arcs would change which
//! markings can be reached, and are refused.
//!
//! ```
//! let net = inorder_petri::tina::read("two.net", "net two\npl free (2)\ntr take free -> held*2\n")?;
//! assert_eq!((net.places.len(), net.places[0].tokens), (2, 2));
//! # Ok::<(), inorder_petri::text::ReadError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::net::{Arc, ArcKind, Line, Net, Place, PlaceId, Timing, Transition, TransitionId};
use crate::text::{Mistake, ReadError, validated};

/// The rate of transitions, of which the format says nothing.
const RATE: f64 = 1.0;

/// True if the first line that tells is one of this format.
pub(crate) fn is_tina(text: &str) -> bool {
    let mut first_words = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let first = first_words.find(|word| *word != "net" && !word.starts_with('#'));
    matches!(first, Some("pl" | "tr" | "lb" | "pr" | "nt"))
}

/// Reads a net and validates it. `file` is used in error messages.
pub fn read(file: &str, text: &str) -> Result<Net, ReadError> {
    let mut reader = Reader::default();
    for (line, number) in text.lines().zip(1..) {
        reader.line = number;
        let read = reader.read(line);
        read.map_err(|mistake| ReadError::at(number, mistake).in_file(file))?;
    }
    validated(reader.net).map_err(|error| error.in_file(file))
}

/// Reads any bytes.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    let _ = read("fuzz", &String::from_utf8_lossy(data));
}

#[derive(Default)]
struct Reader {
    net: Net,
    places: BTreeMap<String, PlaceId>,
    /// Places whose number of tokens was given.
    marked: BTreeSet<String>,
    transitions: BTreeMap<String, TransitionId>,
    line: Line,
}

/// One end of an arc as it is written: a name, and how the arc is drawn.
struct End {
    name: String,
    kind: ArcKind,
    weight: u32,
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), Mistake> {
        let mut rest = Rest(line.trim());
        match rest.word() {
            "" | "lb" | "nt" => Ok(()),
            comment if comment.starts_with('#') => Ok(()),
            "net" => {
                self.net.name = rest.name()?;
                Ok(())
            }
            "pl" => self.place(rest),
            "tr" => self.transition(rest),
            "pr" => Err(Mistake::unexpected(
                "a net without priorities",
                "a line pr, which restricts what can fire",
            )),
            other => Err(Mistake::unexpected(
                "one of net, pl, tr, lb, nt (the format of TINA)",
                other,
            )),
        }
    }

    fn place(&mut self, mut rest: Rest<'_>) -> Result<(), Mistake> {
        let name = rest.name()?;
        rest.label()?;
        let place = self.place_named(&name);
        if rest.take('(') {
            if !self.marked.insert(name) {
                return Err(Mistake::unexpected(
                    "a place that is marked once",
                    "a second number of tokens",
                ));
            }
            rest.skip_spaces();
            self.net.places[place.0].tokens = rest.number()?;
            rest.skip_spaces();
            rest.require(')')?;
        }
        let (inputs, outputs) = rest.arcs()?;
        // An arc into the place is an output of the transition it comes from.
        for end in inputs {
            let transition = self.transition_named(&end.name);
            let kind = only_normal(&end, ArcKind::Output)?;
            self.arc(transition, kind, place, end.weight);
        }
        for end in outputs {
            let transition = self.transition_named(&end.name);
            self.arc(transition, end.kind, place, end.weight);
        }
        Ok(())
    }

    fn transition(&mut self, mut rest: Rest<'_>) -> Result<(), Mistake> {
        let name = rest.name()?;
        rest.label()?;
        rest.interval()?;
        let transition = self.transition_named(&name);
        let (inputs, outputs) = rest.arcs()?;
        for end in inputs {
            let place = self.place_named(&end.name);
            self.arc(transition, end.kind, place, end.weight);
        }
        for end in outputs {
            let place = self.place_named(&end.name);
            let kind = only_normal(&end, ArcKind::Output)?;
            self.arc(transition, kind, place, end.weight);
        }
        Ok(())
    }

    /// A place may be named before its own line.
    fn place_named(&mut self, name: &str) -> PlaceId {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let mut place = Place::new(name, 0);
        place.line = self.line;
        let id = self.net.add_place(place);
        self.places.insert(name.to_owned(), id);
        id
    }

    fn transition_named(&mut self, name: &str) -> TransitionId {
        if let Some(&transition) = self.transitions.get(name) {
            return transition;
        }
        let mut transition = Transition::new(name, Timing::exponential(RATE));
        transition.line = self.line;
        let id = self.net.add_transition(transition);
        self.transitions.insert(name.to_owned(), id);
        id
    }

    /// Arcs of the same kind between the same nodes add up.
    fn arc(&mut self, transition: TransitionId, kind: ArcKind, place: PlaceId, weight: u32) {
        let arcs = &mut self.net.transitions[transition.0].arcs;
        let same = |arc: &&mut Arc| arc.kind == kind && arc.place == place;
        match arcs.iter_mut().find(same) {
            Some(arc) if matches!(kind, ArcKind::Input | ArcKind::Output) => {
                arc.multiplicity = arc.multiplicity.saturating_add(weight);
            }
            Some(arc) if kind == ArcKind::Inhibitor => {
                arc.multiplicity = arc.multiplicity.min(weight);
            }
            Some(arc) => arc.multiplicity = arc.multiplicity.max(weight),
            None => arcs.push(Arc {
                kind,
                place,
                multiplicity: weight,
                line: self.line,
            }),
        }
    }
}

/// What stands where a number was expected.
fn found<'a>(digits: &'a str, rest: &'a str) -> &'a str {
    match (digits, rest) {
        ("", "") => "the end of the line",
        ("", rest) => rest,
        _ => digits,
    }
}

fn only_normal(end: &End, kind: ArcKind) -> Result<ArcKind, Mistake> {
    match end.kind {
        ArcKind::Input => Ok(kind),
        other => {
            let found = format!("an arc of kind {} from a transition", other.name());
            Err(Mistake::unexpected("one from a place", found))
        }
    }
}

/// What is left of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip_spaces(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// The text up to the next space.
    fn word(&mut self) -> &'a str {
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        self.skip_spaces();
        word
    }

    fn take(&mut self, wanted: char) -> bool {
        let after = self.0.strip_prefix(wanted);
        if let Some(after) = after {
            self.0 = after;
        }
        after.is_some()
    }

    fn require(&mut self, wanted: char) -> Result<(), Mistake> {
        if self.take(wanted) {
            self.skip_spaces();
            return Ok(());
        }
        Err(self.unexpected(&wanted.to_string()))
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        match self.0.chars().next() {
            Some(found) => Mistake::unexpected(expected, found),
            None => Mistake::unexpected(expected, "the end of the line"),
        }
    }

    /// A name, or any text in braces, in which a backslash makes the next character part of the name.
    fn name(&mut self) -> Result<String, Mistake> {
        if self.take('{') {
            let mut name = String::new();
            let mut chars = self.0.chars();
            loop {
                match chars.next() {
                    Some('}') => break,
                    Some('\\') => name.extend(chars.next()),
                    Some(c) => name.push(c),
                    None => return Err(Mistake::unexpected("}", "the end of the line")),
                }
            }
            self.0 = chars.as_str().trim_start();
            return Ok(name);
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '.');
        let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
        if end == 0 {
            return Err(self.unexpected("a name"));
        }
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        Ok(name.to_owned())
    }

    /// `: LABEL`, which changes nothing.
    fn label(&mut self) -> Result<(), Mistake> {
        self.skip_spaces();
        if self.take(':') {
            self.skip_spaces();
            self.name()?;
            self.skip_spaces();
        }
        Ok(())
    }

    /// A number of tokens: digits, then perhaps K or M.
    fn number(&mut self) -> Result<u32, Mistake> {
        let end = self.0.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        let factor = match (self.take('K'), self.take('M')) {
            (true, _) => 1_000,
            (_, true) => 1_000_000,
            _ => 1,
        };
        let number: Option<u32> = digits.parse().ok();
        number
            .and_then(|number| number.checked_mul(factor))
            .ok_or_else(|| Mistake::unexpected("a whole number of tokens", found(digits, self.0)))
    }

    /// A firing interval, of which only `[0,w[` leaves the net as it is.
    fn interval(&mut self) -> Result<(), Mistake> {
        if !self.0.starts_with(['[', ']']) {
            return Ok(());
        }
        let end = self.0[1..].find(['[', ']']).map(|at| at + 2);
        let (interval, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        self.skip_spaces();
        match interval.replace(' ', "").as_str() {
            "[0,w[" => Ok(()),
            other => Err(Mistake::unexpected(
                "no firing interval but [0,w[ (a net without time)",
                other,
            )),
        }
    }

    /// `INPUTS -> OUTPUTS`, or nothing.
    fn arcs(&mut self) -> Result<(Vec<End>, Vec<End>), Mistake> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        self.skip_spaces();
        if self.0.is_empty() {
            return Ok((inputs, outputs));
        }
        while !self.0.starts_with("->") {
            inputs.push(self.end()?);
        }
        self.0 = self.0["->".len()..].trim_start();
        while !self.0.is_empty() {
            outputs.push(self.end()?);
        }
        Ok((inputs, outputs))
    }

    fn end(&mut self) -> Result<End, Mistake> {
        let name = self.name()?;
        let (kind, weight) = if self.take('*') {
            (ArcKind::Input, self.number()?)
        } else if self.take('?') {
            let kind = match self.take('-') {
                true => ArcKind::Inhibitor,
                false => ArcKind::Read,
            };
            (kind, self.number()?)
        } else if self.0.starts_with('!') {
            return Err(Mistake::unexpected("a net without time", "a stopwatch arc"));
        } else {
            (ArcKind::Input, 1)
        };
        self.skip_spaces();
        Ok(End { name, kind, weight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_transitions_may_both_carry_the_arcs() {
        let by_transitions = "# a comment\nnet {my net}\npl a : lab (2K)\ntr t : lab [0,w[ a*2 b?3 c?-1 -> b\ntr u -> a\n";
        let net = read("f", by_transitions).unwrap();
        assert_eq!(net.name, "my net");
        assert_eq!(net.places[0].tokens, 2_000);
        let t = &net.transitions[0];
        let arcs: Vec<_> = t
            .arcs
            .iter()
            .map(|arc| {
                (
                    arc.kind,
                    net.places[arc.place.0].name.as_str(),
                    arc.multiplicity,
                )
            })
            .collect();
        assert_eq!(
            arcs,
            [
                (ArcKind::Input, "a", 2),
                (ArcKind::Read, "b", 3),
                (ArcKind::Inhibitor, "c", 1),
                (ArcKind::Output, "b", 1),
            ]
        );
        let by_places = "tr t\npl a (2000) u -> t*2\npl b t -> t?3\npl c -> t?-1\n";
        let other = read("f", by_places).unwrap();
        let sorted = |net: &Net| {
            let name = |arc: &Arc| net.places[arc.place.0].name.clone();
            let t = net.transition_named("t").unwrap();
            let mut arcs: Vec<_> = net.transitions[t.0].arcs.iter().collect();
            arcs.sort_by_key(|arc| (arc.kind, name(arc)));
            arcs.iter()
                .map(|arc| (arc.kind, name(arc), arc.multiplicity))
                .collect::<Vec<_>>()
        };
        assert_eq!(sorted(&other), sorted(&net));
    }

    #[test]
    fn what_would_change_the_net_is_refused_with_its_line() {
        for (text, message) in [
            (
                "tr t [1,2] a -> b",
                "f:1: expected no firing interval but [0,w[ (a net without time), found [1,2]",
            ),
            (
                "pl a (1)\npr t > u",
                "f:2: expected a net without priorities, found a line pr, which restricts what can fire",
            ),
            (
                "tr t a!2 -> b",
                "f:1: expected a net without time, found a stopwatch arc",
            ),
            (
                "tr t a b",
                "f:1: expected a name, found the end of the line",
            ),
            (
                "pl a (1)\npl a (2)",
                "f:2: expected a place that is marked once, found a second number of tokens",
            ),
            (
                "pl a (x)",
                "f:1: expected a whole number of tokens, found x)",
            ),
            (
                "tr t a -> b?1",
                "f:1: expected one from a place, found an arc of kind read from a transition",
            ),
            ("tr {t", "f:1: expected }, found the end of the line"),
            (
                "zz t",
                "f:1: expected one of net, pl, tr, lb, nt (the format of TINA), found zz",
            ),
        ] {
            assert_eq!(read("f", text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_format_is_recognised_by_its_first_line() {
        assert!(is_tina("net x\n\ntr t a -> b\n"));
        assert!(is_tina("# c\npl p (1)\n"));
        assert!(!is_tina("net x\nplace p\n"));
        assert!(!is_tina(""));
    }

    #[test]
    fn spaces_in_a_marking_say_nothing() {
        let net = read("f", "pl a ( 2 )\ntr t a -> b").unwrap();
        assert_eq!(net.places[0].tokens, 2);
    }
}
