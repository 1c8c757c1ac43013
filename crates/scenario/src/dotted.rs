//! Dotted keys: `flow.sender.sack`, `forward.1.delay`, `forward.jitter.delay`, `flow.*.count`.

use crate::error::{Place, Problem};
use crate::value::{Entry, Node, Value};

/// Keys with more parts are refused, as by the TOML parser: each part is a table within a table.
const MAX_PARTS: usize = 80;

/// Sets the value at the position of `key`. Missing tables are created, missing list elements are not.
///
/// A list element is selected by its position from 0, by its `name`, or by `*` for all; a list with one element needs
/// no selector.
pub(crate) fn set(tree: &mut Node, key: &str, place: &Place, value: &Node) -> Result<(), Problem> {
    let parts: Vec<&str> = key.split('.').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        let expected = "names with a dot between them, as \"flow.count\"";
        return Err(Problem::new(place, format!("\"{key}\""), expected));
    }
    if parts.len() > MAX_PARTS {
        let what = format!("a key of {} parts", parts.len());
        return Err(Problem::new(place, what, format!("at most {MAX_PARTS}")));
    }
    descend(tree, &parts, key, place, value)
}

fn descend(
    node: &mut Node,
    parts: &[&str],
    key: &str,
    place: &Place,
    value: &Node,
) -> Result<(), Problem> {
    let Some((part, rest)) = parts.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    match &mut node.value {
        Value::Table(entries) => {
            let at = entry(entries, part, place);
            match entries.get_mut(at) {
                Some(entry) => descend(&mut entry.node, rest, key, place, value),
                None => Ok(()),
            }
        }
        Value::List(nodes) => {
            let (chosen, rest) = choose(nodes, part, parts, rest, key, place)?;
            for at in chosen {
                if let Some(node) = nodes.get_mut(at) {
                    descend(node, rest, key, place, value)?;
                }
            }
            Ok(())
        }
        _ => {
            let what = format!("\"{key}\": there is nothing below {}", node.show());
            Err(Problem::new(place, what, "the key of a table or a list"))
        }
    }
}

/// The position of the entry called `part`, which is created if necessary.
fn entry(entries: &mut Vec<Entry>, part: &str, place: &Place) -> usize {
    if let Some(at) = entries.iter().position(|entry| entry.key == part) {
        return at;
    }
    entries.push(Entry {
        key: part.to_owned(),
        place: place.clone(),
        node: Node::empty(place),
    });
    entries.len() - 1
}

/// The selected elements, and the remaining parts of the key.
fn choose<'p>(
    nodes: &[Node],
    part: &str,
    parts: &'p [&'p str],
    rest: &'p [&'p str],
    key: &str,
    place: &Place,
) -> Result<(Vec<usize>, &'p [&'p str]), Problem> {
    let named = |node: &Node| node.get("name").is_some_and(|name| name.show() == part);
    if part == "*" {
        return Ok(((0..nodes.len()).collect(), rest));
    }
    if let Some(at) = part.parse().ok().filter(|at| *at < nodes.len()) {
        return Ok((vec![at], rest));
    }
    let matching: Vec<usize> = (0..nodes.len())
        .filter(|at| nodes.get(*at).is_some_and(named))
        .collect();
    if !matching.is_empty() {
        return Ok((matching, rest));
    }
    if nodes.len() == 1 {
        return Ok((vec![0], parts));
    }
    let names: Vec<String> = nodes
        .iter()
        .filter_map(|node| node.get("name").map(Node::show))
        .collect();
    let what = format!(
        "\"{key}\": which of {} elements is \"{part}\"?",
        nodes.len()
    );
    let expected = format!(
        "a position from 0, *, or a name{}{}",
        if names.is_empty() { "" } else { ": " },
        names.join(", ")
    );
    Err(Problem::new(place, what, expected).nearest(part, names.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, key: &str) -> Result<String, String> {
        let mut tree = Node::parse(text).unwrap();
        let value = Node::from_default("9");
        set(&mut tree, key, &Place::Default, &value).map_err(|p| p.what)?;
        Ok(tree.show())
    }

    #[test]
    fn keys_select_their_values() {
        for (text, key, expected) in [
            ("a = 1", "a", "{a = 9}"),
            ("a = 1", "b.c", "{a = 1, b = {c = 9}}"),
            ("[[f]]\nn = 1", "f.n", "{f = [{n = 9}]}"),
            ("f = [1, 2]", "f.1", "{f = [1, 9]}"),
            ("f = [{}, {}]", "f.*.x", "{f = [{x = 9}, {x = 9}]}"),
            (
                "f = [{name = \"j\"}, {}]",
                "f.j.x",
                "{f = [{name = j, x = 9}, {}]}",
            ),
        ] {
            assert_eq!(after(text, key).as_deref(), Ok(expected), "{text}: {key}");
        }
    }

    #[test]
    fn ambiguous_keys_are_errors() {
        for (text, key, what) in [
            (
                "f = [{}, {}]",
                "f.x",
                "\"f.x\": which of 2 elements is \"x\"?",
            ),
            ("a = 1", "a.b", "\"a.b\": there is nothing below 1"),
            ("a = 1", "a..b", "\"a..b\""),
        ] {
            assert_eq!(after(text, key), Err(what.to_owned()));
        }
    }
}
