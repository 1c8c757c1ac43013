//! The setting without which a key has no effect.

/// The setting without which a key has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The key must have one of these values.
    Is(&'static str, &'static [&'static str]),
    /// The key must have any other value than this one.
    IsNot(&'static str, &'static str),
    /// The key must be given.
    Given(&'static str),
}

impl Owner {
    /// The key it is about.
    pub fn key(self) -> &'static str {
        match self {
            Owner::Is(key, _) | Owner::IsNot(key, _) | Owner::Given(key) => key,
        }
    }

    /// Does `value` of the key, given or by default, satisfy it? `given` says that it was given.
    pub fn allows(self, value: Option<&str>, given: bool) -> bool {
        match self {
            Owner::Is(_, values) => value.is_some_and(|value| values.contains(&value)),
            Owner::IsNot(_, not) => value.is_some_and(|value| value != not),
            Owner::Given(_) => given,
        }
    }

    /// What must be there, as in a file: `model = "markov"`. Words are set in quotes, `true` is not.
    pub fn text(self) -> String {
        match self {
            Owner::Is(key, values) => {
                let quoted: Vec<String> = values.iter().map(|value| literal(value)).collect();
                format!("{key} = {}", quoted.join(" or "))
            }
            Owner::IsNot(key, not) => format!("{key} other than {}", literal(not)),
            Owner::Given(key) => key.to_owned(),
        }
    }
}

fn literal(value: &str) -> String {
    match value {
        "true" | "false" => value.to_owned(),
        word => format!("\"{word}\""),
    }
}
