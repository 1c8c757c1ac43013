//! A TOML document as a tree with the position of each value.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Place, Problem};

/// A value and its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its position.
    pub place: Place,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true`, `false`.
    Flag(bool),
    /// A number, as written.
    Number(String),
    /// Text, often with a unit in it.
    Text(String),
    /// `[...]` or `[[...]]`.
    List(Vec<Node>),
    /// A table, in the order in which it was written.
    Table(Vec<Entry>),
}

/// One entry of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Position of the key.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The tree of a file's text.
    pub fn parse(text: &str) -> Result<Node, Problem> {
        let table = DeTable::parse(text).map_err(|error| Problem::of_toml(&error))?;
        table_node(&table, None)
    }

    /// The tree of a value given outside the file. Text that is not a TOML value becomes a string, so that `--set
    /// run.duration=5s` needs no quotes.
    pub(crate) fn parse_override(text: &str, shown: &Arc<str>) -> Result<Node, Problem> {
        let place = Place::Override(Arc::clone(shown));
        let document = format!("value = {text}");
        let Ok(table) = DeTable::parse(&document) else {
            return Ok(Node {
                value: Value::Text(text.trim().to_owned()),
                place,
            });
        };
        let tree = table_node(&table, Some(&place))?;
        let missing = || Problem::new(&place, "an empty value", "a value");
        tree.get("value").cloned().ok_or_else(missing)
    }

    /// A default as written in the schema.
    pub(crate) fn from_default(text: &str) -> Node {
        let value = match text {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            number if number.parse::<f64>().is_ok() => Value::Number(number.to_owned()),
            text => Value::Text(text.to_owned()),
        };
        Node {
            value,
            place: Place::Default,
        }
    }

    /// An empty table.
    pub(crate) fn empty(place: &Place) -> Node {
        Node {
            value: Value::Table(Vec::new()),
            place: place.clone(),
        }
    }

    /// The value of `key` in a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// The type of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Flag(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value approximately as it was written, for labels and messages.
    pub fn show(&self) -> String {
        match &self.value {
            Value::Flag(flag) => flag.to_string(),
            Value::Number(text) | Value::Text(text) => text.clone(),
            Value::List(nodes) => {
                let shown: Vec<String> = nodes.iter().map(Node::show).collect();
                format!("[{}]", shown.join(", "))
            }
            Value::Table(entries) => {
                let show = |e: &Entry| format!("{} = {}", e.key, e.node.show());
                let shown: Vec<String> = entries.iter().map(show).collect();
                format!("{{{}}}", shown.join(", "))
            }
        }
    }

    /// The entries of a table.
    pub fn entries(&self, what: &str) -> Result<&[Entry], Problem> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wrong(what, "a table")),
        }
    }

    /// The elements of a list; any other value counts as a list of one.
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            Value::List(nodes) => nodes,
            _ => std::slice::from_ref(self),
        }
    }

    /// The error "`what` is a number, expected ...".
    pub(crate) fn wrong(&self, what: &str, expected: &str) -> Problem {
        Problem::new(&self.place, format!("{what} is {}", self.kind()), expected)
    }
}

/// The elements of a list of tables.
pub(crate) fn tables(node: &Node) -> Result<&[Node], Problem> {
    match &node.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(node.wrong("this", "a list of tables, `[[...]]`")),
    }
}

fn table_node(table: &Spanned<DeTable<'_>>, place: Option<&Place>) -> Result<Node, Problem> {
    let value = table_value(table.get_ref(), place)?;
    Ok(Node {
        value,
        place: placed(table.span().start, place),
    })
}

fn placed(offset: usize, place: Option<&Place>) -> Place {
    place.cloned().unwrap_or(Place::File(offset))
}

fn table_value(table: &DeTable<'_>, place: Option<&Place>) -> Result<Value, Problem> {
    let mut lines: Vec<_> = table.iter().collect();
    // The parser sorts tables by key; the order in which users wrote them is restored.
    lines.sort_by_key(|(key, _)| key.span().start);
    let entries = lines.into_iter().map(|(key, node)| {
        Ok(Entry {
            key: key.get_ref().to_string(),
            place: placed(key.span().start, place),
            node: convert(node, place)?,
        })
    });
    Ok(Value::Table(entries.collect::<Result<_, Problem>>()?))
}

fn convert(node: &Spanned<DeValue<'_>>, place: Option<&Place>) -> Result<Node, Problem> {
    let at = placed(node.span().start, place);
    let value = match node.get_ref() {
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(number) if number.radix() == 10 => {
            Value::Number(number.as_str().to_owned())
        }
        DeValue::Integer(number) => {
            let parsed = i128::from_str_radix(number.as_str(), number.radix());
            let wrong = |_| Problem::new(&at, "an integer out of range", "a smaller one");
            Value::Number(parsed.map_err(wrong)?.to_string())
        }
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Array(list) => {
            let nodes = list.iter().map(|node| convert(node, place));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => table_value(table, place)?,
        DeValue::Datetime(_) => {
            return Err(Problem::new(
                &at,
                "a date",
                "a time since the start, as \"10 s\"",
            ));
        }
    };
    Ok(Node { value, place: at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_order_and_values_their_positions() {
        let text = "z = 1\na = [\"x\", true]\n[m]\nk = 2.5\n";
        let tree = Node::parse(text).unwrap();
        let keys: Vec<_> = tree
            .entries("file")
            .unwrap()
            .iter()
            .map(|e| &e.key)
            .collect();
        assert_eq!(keys, ["z", "a", "m"]);
        let list = tree.get("a").unwrap().elements();
        assert_eq!(list[1].place, Place::File(text.find("true").unwrap()));
        assert_eq!(tree.show(), "{z = 1, a = [x, true], m = {k = 2.5}}");
    }

    #[test]
    fn overrides_need_no_quotes() {
        let shown: Arc<str> = "--set x=5 ms".into();
        let of = |text| Node::parse_override(text, &shown).unwrap().value;
        assert_eq!(of("5 ms"), Value::Text("5 ms".to_owned()));
        assert_eq!(of("\"5 ms\""), Value::Text("5 ms".to_owned()));
        assert_eq!(of("5"), Value::Number("5".to_owned()));
        assert!(matches!(of("[1, 2]"), Value::List(_)));
    }

    #[test]
    fn errors_in_toml_have_a_position() {
        let problem = Node::parse("a = 1\nb = \n").unwrap_err();
        assert!(matches!(problem.place, Place::File(6..)), "{problem:?}");
    }
}
