//! Tables of texts that are refused, each with its message.
//!
//! A case ends with its message, behind `=> `; `...` at the end of a message stands for anything. The lines before it are the
//! text, or what changes in the text of which all cases of a table are made: lines behind `- ` are replaced, where they stand
//! first, by those behind `+ `, which without any are added at the end.

/// A text, and what is said of it.
struct Case {
    text: String,
    message: String,
}

fn cases(table: &str, base: &str) -> Vec<Case> {
    let (mut cases, mut lines) = (Vec::new(), Vec::new());
    for line in table.lines() {
        match line.strip_prefix("=> ") {
            Some(message) => cases.push(Case {
                text: text(&std::mem::take(&mut lines), base),
                message: message.to_owned(),
            }),
            // An empty line stands between two cases.
            None if line.is_empty() && lines.is_empty() => {}
            None => lines.push(line),
        }
    }
    cases
}

fn text(lines: &[&str], base: &str) -> String {
    let marked = |mark: &str| {
        let marked = lines.iter().filter_map(|line| line.strip_prefix(mark));
        marked.collect::<Vec<_>>().join("\n")
    };
    match (marked("- "), marked("+ ")) {
        (old, new) if old.is_empty() && new.is_empty() => lines.join("\n"),
        (old, new) if old.is_empty() => format!("{base}{new}\n"),
        (old, new) => {
            assert!(base.contains(&old), "{old} is not in the text");
            base.replacen(&old, &new, 1)
        }
    }
}

/// Whether `message` says of each text of a table, in which all are made of `base`, what the table says.
#[track_caller]
pub(crate) fn check(table: &str, base: &str, message: impl Fn(&str) -> String) {
    let differs = |case: Case| {
        let found = message(&case.text);
        let is_right = match case.message.strip_suffix("...") {
            Some(start) => found.starts_with(start),
            None => found == case.message,
        };
        (!is_right).then(|| format!("{}\n  {found}\n  instead of {}", case.text, case.message))
    };
    let wrong: Vec<String> = cases(table, base).into_iter().filter_map(differs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
