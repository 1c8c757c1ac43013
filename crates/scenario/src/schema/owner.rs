//! The setting on which a key depends.

/// The setting on which a key depends: without it, the key has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The setting must have one of these values.
    Is(&'static str, &'static [&'static str]),
    /// The setting must have another value than this one.
    IsNot(&'static str, &'static str),
    /// The setting must be given.
    Given(&'static str),
}

impl Owner {
    /// The key of the setting.
    pub fn key(self) -> &'static str {
        match self {
            Owner::Is(key, _) | Owner::IsNot(key, _) | Owner::Given(key) => key,
        }
    }

    /// True if `value` of the setting, given or by default, satisfies the condition. `given` is true if it was given.
    pub fn allows(self, value: Option<&str>, given: bool) -> bool {
        match self {
            Owner::Is(_, values) => value.is_some_and(|value| values.contains(&value)),
            Owner::IsNot(_, not) => value.is_some_and(|value| value != not),
            Owner::Given(_) => given,
        }
    }

    /// The required setting as in a file: `model = "markov"`. Words are quoted, `true` is not.
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
