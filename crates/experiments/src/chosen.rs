//! Papers and their items by name.

use crate::paper::{Item, Paper, papers};

/// A name that no paper, or no item of a paper, has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unknown {
    /// One known name is similar.
    #[error("unknown {what} {name}, did you mean {near}?")]
    Near {
        /// `paper` or `item`.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The known one.
        near: String,
    },
    /// No known name is similar.
    #[error("unknown {what} {name}, expected one of {}", known.join(", "))]
    Other {
        /// `paper` or `item`.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// All known names.
        known: Vec<String>,
    },
}

impl Unknown {
    fn new<'n>(what: &'static str, name: &str, known: impl Iterator<Item = &'n str>) -> Self {
        let known: Vec<&str> = known.collect();
        let name = name.to_owned();
        match inorder_base::names::nearest(&name, known.iter().copied()) {
            Some(near) => Unknown::Near {
                what,
                near: near.to_owned(),
                name,
            },
            None => Unknown::Other {
                what,
                name,
                known: known.into_iter().map(str::to_owned).collect(),
            },
        }
    }
}

/// The paper called `name`, of [`papers`].
///
/// # Errors
/// If there is none, with the names there are.
pub fn paper(name: &str) -> Result<&'static Paper, Unknown> {
    let papers = papers().unwrap_or_default();
    let mut all = papers.iter();
    all.find(|paper| paper.name == name)
        .ok_or_else(|| Unknown::new("paper", name, papers.iter().map(|paper| paper.name)))
}

impl Paper {
    /// The items with these names, or all without any.
    ///
    /// # Errors
    /// If one does not exist, with the names there are.
    pub fn chosen<N: AsRef<str>>(&self, names: &[N]) -> Result<Vec<&Item>, Unknown> {
        if names.is_empty() {
            return Ok(self.items.iter().collect());
        }
        let one = |name: &N| {
            let name = name.as_ref();
            let known = || self.items.iter().map(|item| item.name.as_str());
            let found = self.items.iter().find(|item| item.name == name);
            found.ok_or_else(|| Unknown::new("item", name, known()))
        };
        names.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_gets_the_nearest_or_all_of_them() {
        let near = paper("srpik").err().unwrap().to_string();
        assert_eq!(near, "unknown paper srpik, did you mean srpic?");
        let other = paper("x").err().unwrap().to_string();
        assert!(other.contains("expected one of ") && other.contains("srpic"));
        let srpic = paper("srpic").unwrap();
        assert_eq!(srpic.chosen::<&str>(&[]).unwrap().len(), srpic.items.len());
        assert!(srpic.chosen(&["table-99x"]).is_err());
    }
}
