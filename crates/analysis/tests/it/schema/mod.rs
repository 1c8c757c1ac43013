//! A checker for the part of JSON Schema (draft 2020-12) that `docs/schemas/analyze.schema.json` uses.

use serde_json::{Map, Value};

pub(crate) const SCHEMA: &str = include_str!("../../../../../docs/schemas/analyze.schema.json");

/// Panics with a list of the places where `value` breaks the schema.
pub(crate) fn check(value: &Value) {
    let errors = errors(value);
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The places where `value` breaks the schema.
pub(crate) fn errors(value: &Value) -> Vec<String> {
    let root: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut checker = Checker {
        root: &root,
        errors: Vec::new(),
    };
    checker.visit(value, &root, "");
    checker.errors
}

struct Checker<'a> {
    root: &'a Value,
    errors: Vec<String>,
}

impl<'a> Checker<'a> {
    fn visit(&mut self, value: &Value, schema: &'a Value, at: &str) {
        let schema = schema.as_object().expect("a schema is an object");
        for (keyword, rule) in schema {
            if !self.holds(value, keyword, rule, schema, at) {
                self.errors
                    .push(format!("{at}: {keyword} {rule} broken by {value}"));
            }
        }
    }

    /// False if the rule itself is broken here; rules about members and items report their own errors.
    fn holds(
        &mut self,
        value: &Value,
        keyword: &str,
        rule: &'a Value,
        schema: &'a Map<String, Value>,
        at: &str,
    ) -> bool {
        match keyword {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = rule.as_str().unwrap().trim_start_matches('#');
                let target = self
                    .root
                    .pointer(path)
                    .expect("the reference leads somewhere");
                self.visit(value, target, at);
                true
            }
            "type" => match rule {
                Value::Array(any) => any.iter().any(|one| is_type(value, one)),
                one => is_type(value, one),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap()),
            "minItems" => len(value).is_none_or(|n| n >= rule.as_u64().unwrap()),
            "maxItems" => len(value).is_none_or(|n| n <= rule.as_u64().unwrap()),
            "required" => value.as_object().is_none_or(|object| {
                let names = rule.as_array().unwrap();
                names
                    .iter()
                    .all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" => {
                self.properties(value, rule, at);
                true
            }
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let known = schema["properties"].as_object().unwrap();
                object.keys().all(|name| known.contains_key(name))
            }),
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.visit(item, rule, &format!("{at}/{i}"));
                }
                true
            }
            "anyOf" => self.any_of(value, rule, at),
            other => panic!("{other}: this checker does not know the keyword"),
        }
    }

    fn properties(&mut self, value: &Value, rule: &'a Value, at: &str) {
        for (name, member) in value.as_object().into_iter().flatten() {
            if let Some(schema) = rule.get(name) {
                self.visit(member, schema, &format!("{at}/{name}"));
            }
        }
    }

    fn any_of(&self, value: &Value, rule: &'a Value, at: &str) -> bool {
        rule.as_array().unwrap().iter().any(|one| {
            let mut inner = Checker {
                root: self.root,
                errors: Vec::new(),
            };
            inner.visit(value, one, at);
            inner.errors.is_empty()
        })
    }
}

fn is_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{other}: no such type"),
    }
}

fn len(value: &Value) -> Option<u64> {
    value.as_array().map(|array| array.len() as u64)
}
