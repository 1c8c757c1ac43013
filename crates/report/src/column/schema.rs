//! JSON Schema (draft 2020-12) of what the same columns write as JSON.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::column::json::objects;
use crate::column::{AnyColumn, Nested};
use crate::field::{Element, Field, Files, Kind};

/// The dialect of the schemas.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Writes the schema of a document whose members are `columns`, indented, with a line feed.
///
/// ```
/// use inorder_report::{Column, Kind, schema};
///
/// static DOCUMENT: &[Column<u64>] = &[
///     Column::new("schema", Kind::Choice(&["example/1"]), "Name.", |_| "example/1".into()),
///     Column::new("count", Kind::Count, "How many.", |n| (*n).into()),
/// ];
/// let mut out = Vec::new();
/// schema::write(&mut out, "example", "What `example --json` prints.", DOCUMENT)?;
/// let schema: serde_json::Value = serde_json::from_slice(&out)?;
/// assert_eq!(schema["properties"]["schema"]["const"], "example/1");
/// assert_eq!(schema["properties"]["count"]["minimum"], 0);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If `out` cannot be written.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    title: &str,
    about: &str,
    columns: &[M],
) -> io::Result<()> {
    let document = Document {
        title,
        about,
        schema: Schema::object(columns),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

struct Document<'a> {
    title: &'a str,
    about: &'a str,
    schema: Schema,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("$schema", DIALECT)?;
        map.serialize_entry("title", self.title)?;
        map.serialize_entry("description", self.about)?;
        self.schema.shape.entries(&mut map, false)?;
        map.end()
    }
}

/// The schema of one JSON value.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    shape: Shape,
    about: String,
    or_null: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum Shape {
    Any,
    Text,
    Choice(&'static [&'static str]),
    Flag,
    Count,
    Integer,
    Number,
    Array(Box<Schema>),
    Pair,
    Object(Vec<Member>),
    Map(Box<Schema>),
}

#[derive(Clone, PartialEq, Debug)]
struct Member {
    name: String,
    schema: Schema,
    /// True if every object has the member.
    required: bool,
}

impl Schema {
    /// Any value.
    pub fn any() -> Self {
        Shape::Any.into()
    }

    /// An array of values.
    pub fn array(of: Schema) -> Self {
        Shape::Array(Box::new(of)).into()
    }

    /// An object with members of any name, all of one kind.
    pub fn map(of: Schema) -> Self {
        Shape::Map(Box::new(of)).into()
    }

    /// Values of a kind, apart from nested rows.
    pub fn of(kind: Kind) -> Self {
        let shape = match kind {
            Kind::Text => Shape::Text,
            Kind::Choice(names) => Shape::Choice(names),
            Kind::Flag => Shape::Flag,
            Kind::Count | Kind::Small | Kind::Rate | Kind::Bytes => Shape::Count,
            Kind::Integer | Kind::Instant => Shape::Integer,
            Kind::Number(_) | Kind::Share | Kind::Duration => Shape::Number,
            Kind::List(Element::Number) => Shape::Array(Box::new(Shape::Number.into())),
            Kind::List(Element::Text) => Shape::Array(Box::new(Shape::Text.into())),
            Kind::List(Element::Pair) => Shape::Array(Box::new(Shape::Pair.into())),
            Kind::Map(Element::Text) => Shape::Map(Box::new(Shape::Text.into())),
            Kind::Map(Element::Number) => Shape::Map(Box::new(Shape::Number.into())),
            Kind::Map(Element::Pair) => Shape::Map(Box::new(Shape::Pair.into())),
            Kind::Nested => Shape::Any,
        };
        shape.into()
    }

    /// The object that is written for a row.
    pub fn object<R: ?Sized, M: AnyColumn<R>>(columns: &[M]) -> Self {
        let mut members = Vec::new();
        for column in columns {
            add(&mut members, column);
        }
        Shape::Object(members).into()
    }

    /// This schema, or `null`.
    #[must_use]
    pub fn or_null(mut self) -> Self {
        self.or_null = true;
        self
    }

    /// This schema with a description.
    #[must_use]
    pub fn about(mut self, about: &str) -> Self {
        self.about = about.to_owned();
        self
    }
}

impl From<Shape> for Schema {
    fn from(shape: Shape) -> Self {
        Schema {
            shape,
            about: String::new(),
            or_null: false,
        }
    }
}

/// Adds the member of a column, or the members of a part.
fn add<R: ?Sized, M: AnyColumn<R>>(members: &mut Vec<Member>, column: &M) {
    let field = column.field();
    if !field.files.is_json(true) {
        return;
    }
    let rows = column.rows();
    if let Some(part) = rows.filter(|rows| rows.is_part()) {
        part.flat().iter().for_each(|column| add(members, column));
        return;
    }
    let mut schema = rows.map_or_else(|| Schema::of(field.kind), Nested::schema);
    schema.or_null |= field.optional;
    let member = Member {
        name: field.member.to_owned(),
        schema: schema.about(&description(field)),
        required: field.files != Files::JsonDetails,
    };
    insert(members, &objects(field), member);
}

/// The description, with the unit unless the name contains it.
fn description(field: &Field<'_>) -> String {
    let named = [
        ("_ms", "ms"),
        ("_bps", "bit/s"),
        ("_ns", "ns since the Unix epoch"),
    ];
    let says =
        |(ending, unit): &(&str, &str)| field.member.ends_with(ending) && *unit == field.unit;
    match field.unit {
        "" => field.about.to_owned(),
        _ if named.iter().any(says) => field.about.to_owned(),
        unit => format!("{} Unit: {unit}.", field.about),
    }
}

/// Adds a member at its path.
fn insert(members: &mut Vec<Member>, path: &[&str], member: Member) {
    let Some((first, rest)) = path.split_first() else {
        members.push(member);
        return;
    };
    if !members.iter().any(|one| one.name == *first) {
        members.push(Member {
            name: (*first).to_owned(),
            schema: Shape::Object(Vec::new()).into(),
            required: true,
        });
    }
    let object = members.iter_mut().find(|one| one.name == *first);
    if let Some(Shape::Object(inner)) = object.map(|one| &mut one.schema.shape) {
        insert(inner, rest, member);
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        if !self.about.is_empty() {
            map.serialize_entry("description", &self.about)?;
        }
        self.shape.entries(&mut map, self.or_null)?;
        map.end()
    }
}

impl Shape {
    /// The keywords of the schema.
    fn entries<M: SerializeMap>(&self, map: &mut M, or_null: bool) -> Result<(), M::Error> {
        if let Some(name) = self.type_name() {
            match or_null {
                true => map.serialize_entry("type", &[name, "null"])?,
                false => map.serialize_entry("type", name)?,
            }
        }
        match self {
            Shape::Any | Shape::Text | Shape::Flag | Shape::Integer | Shape::Number => Ok(()),
            Shape::Choice([one]) if !or_null => map.serialize_entry("const", one),
            Shape::Choice(names) => map.serialize_entry("enum", &choices(names, or_null)),
            Shape::Count => map.serialize_entry("minimum", &0),
            Shape::Array(of) => map.serialize_entry("items", of),
            Shape::Pair => {
                map.serialize_entry("items", &Schema::from(Shape::Number))?;
                map.serialize_entry("minItems", &2)?;
                map.serialize_entry("maxItems", &2)
            }
            Shape::Map(of) => map.serialize_entry("additionalProperties", of),
            Shape::Object(members) => {
                let required = members.iter().filter(|one| one.required);
                let required: Vec<&str> = required.map(|one| one.name.as_str()).collect();
                map.serialize_entry("properties", &Properties(members))?;
                map.serialize_entry("required", &required)?;
                map.serialize_entry("additionalProperties", &false)
            }
        }
    }

    fn type_name(&self) -> Option<&'static str> {
        Some(match self {
            Shape::Any | Shape::Choice(_) => return None,
            Shape::Text => "string",
            Shape::Flag => "boolean",
            Shape::Count | Shape::Integer => "integer",
            Shape::Number => "number",
            Shape::Array(_) | Shape::Pair => "array",
            Shape::Object(_) | Shape::Map(_) => "object",
        })
    }
}

fn choices(names: &[&'static str], or_null: bool) -> Vec<Option<&'static str>> {
    let names = names.iter().copied().map(Some);
    names.chain(or_null.then_some(None)).collect()
}

struct Properties<'a>(&'a [Member]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.iter().map(|one| (&one.name, &one.schema)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, List, Maybe};

    struct Inner(u64);
    struct Row {
        one: Option<Inner>,
        many: Vec<Inner>,
    }

    static INNER: &[Column<Inner>] =
        &[Column::new("n", Kind::Count, "A number.", |i: &Inner| i.0.into()).unit("packets")];
    static ROW: &[Column<Row>] = &[
        Column::new("a", Kind::Choice(&["x", "y"]), "One of two.", |_: &Row| {
            "x".into()
        })
        .optional(),
        Column::new("b", Kind::Duration, "Deep inside.", |_: &Row| 1_u64.into()).at("c.d.b"),
        Column::nested(
            "one",
            "Perhaps one.",
            &Maybe {
                columns: INNER,
                of: |r: &Row| r.one.as_ref(),
            },
        )
        .at("c.one"),
        Column::nested(
            "many",
            "Many.",
            &List {
                columns: INNER,
                of: |r: &Row| &r.many,
            },
        )
        .only(Files::JsonDetails),
    ];

    #[test]
    fn the_schema_follows_the_columns() {
        let schema = serde_json::to_value(Schema::object(ROW)).unwrap();
        let number = serde_json::json!({
            "type": "object",
            "properties": {"n": {"description": "A number. Unit: packets.", "type": "integer", "minimum": 0}},
            "required": ["n"],
            "additionalProperties": false,
        });
        let a = &schema["properties"]["a"];
        assert_eq!(a["enum"], serde_json::json!(["x", "y", null]));
        let c = &schema["properties"]["c"];
        assert_eq!(c["required"], serde_json::json!(["d", "one"]));
        assert_eq!(c["properties"]["d"]["properties"]["b"]["type"], "number");
        assert_eq!(
            c["properties"]["one"]["type"],
            serde_json::json!(["object", "null"])
        );
        assert_eq!(c["properties"]["one"]["properties"], number["properties"]);
        assert_eq!(schema["properties"]["many"]["items"], number);
        assert_eq!(schema["required"], serde_json::json!(["a", "c"]));
    }
}
