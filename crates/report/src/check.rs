//! A check that every slice of columns should pass in a test.

use std::collections::HashSet;

use crate::column::flat;
use crate::column::json::objects;
use crate::column::{AnyColumn, Boxed};
use crate::field::{Field, Kind};

/// Returns the problems of a list of columns; empty if there are none. Every slice should pass this check in a test.
///
/// ```
/// use inorder_report::{Column, Kind, problems};
///
/// static TWICE: &[Column<u64>] = &[
///     Column::new("n", Kind::Count, "A number.", |n| (*n).into()),
///     Column::new("n", Kind::Duration, "The same", |n| (*n).into()),
/// ];
/// assert_eq!(problems(TWICE), [
///     "n: is in JSON twice",
///     "n: a duration is written in milliseconds, so its name ends in _ms",
///     "n: its description is not a sentence",
///     "n: is in CSV twice",
/// ]);
/// ```
pub fn problems<R: ?Sized, M: AnyColumn<R>>(columns: &[M]) -> Vec<String> {
    let mut problems = in_json(columns);
    let mut names = HashSet::new();
    for column in &flat(columns) {
        let field = column.field();
        if field.files.is_flat() && !names.insert(field.name) {
            problems.push(format!("{}: is in CSV twice", field.name));
        }
    }
    problems
}

fn in_json<R: ?Sized, M: AnyColumn<R>>(columns: &[M]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut members = HashSet::new();
    let mut closed: HashSet<String> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for column in &in_objects(columns) {
        let field = column.field();
        let mut wrong = |what: &str| problems.push(format!("{}: {what}", field.name));
        if field.files.is_json(true) {
            let inside = objects(field);
            for depth in common(&open, &inside)..open.len() {
                closed.insert(open[..=depth].join("."));
            }
            if (0..inside.len()).any(|depth| closed.contains(&inside[..=depth].join("."))) {
                wrong(
                    "its JSON object has already been closed; move the column next to the others of that object",
                );
            }
            open = inside;
            if !members.insert((field.object, field.member)) {
                wrong("is in JSON twice");
            }
        }
        alone(field).into_iter().for_each(wrong);
    }
    problems
}

/// Columns as JSON has them: those of a part beside the others.
fn in_objects<'c, R: ?Sized + 'c, M: AnyColumn<R>>(columns: &'c [M]) -> Vec<Boxed<'c, R>> {
    let mut all: Vec<Boxed<'c, R>> = Vec::new();
    for column in columns {
        match column.rows().filter(|rows| rows.is_part()) {
            Some(part) => all.extend(part.flat()),
            None => all.push(Box::new(column)),
        }
    }
    all
}

/// What is wrong with one column.
fn alone(field: &Field<'_>) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    if field.kind == Kind::Duration && !field.name.ends_with("_ms") {
        wrong.push("a duration is written in milliseconds, so its name ends in _ms");
    }
    if field.kind == Kind::Instant && !field.name.ends_with("_ns") {
        wrong.push("a time of day is written in nanoseconds, so its name ends in _ns");
    }
    if !field.about.ends_with('.') {
        wrong.push("its description is not a sentence");
    }
    wrong
}

/// Number of leading elements that are equal.
fn common(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
