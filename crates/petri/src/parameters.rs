//! Named numbers of a net's file, which a user may replace.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::arithmetic::{self, Values, Wrong};

/// The parameters of a file: what the user gave, and after reading what the file declares.
///
/// ```
/// use inorder_petri::parameters::Parameters;
///
/// let text = "parameter load 0.5\nplace p 1\ntransition t exponential rate 2*load\n in p\n out p\n";
/// let mut parameters = Parameters::new([("load".to_owned(), 0.8)]);
/// let net = inorder_petri::text::read_with("x.net", text, &mut parameters)?;
/// assert_eq!(net.transitions[0].timing, inorder_petri::net::Timing::exponential(1.6));
/// assert_eq!(parameters.declared(), [("load".to_owned(), 0.8)]);
/// # Ok::<(), inorder_petri::text::ReadError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    given: BTreeMap<String, f64>,
    declared: Vec<(String, f64)>,
    values: Rc<Values>,
    net: Option<String>,
    ignored: Vec<String>,
}

impl Parameters {
    /// Values that replace those of the file.
    pub fn new(given: impl IntoIterator<Item = (String, f64)>) -> Self {
        Self {
            given: given.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Chooses the net with this name in a file with several.
    #[must_use]
    pub fn of_net(mut self, name: Option<String>) -> Self {
        self.net = name;
        self
    }

    /// Lets the reader of PNML leave out elements of other namespaces with these names, as `x:guard`.
    #[must_use]
    pub fn ignoring(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.ignored.extend(names);
        self
    }

    /// The name of the net that is wanted.
    pub(crate) fn net(&self) -> Option<&str> {
        self.net.as_deref()
    }

    pub(crate) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The parameters of the file that was read, in its order, with the values that hold.
    pub fn declared(&self) -> &[(String, f64)] {
        &self.declared
    }

    /// A name that was given, but is no parameter of the file that was read.
    pub fn unknown(&self) -> Option<&str> {
        let is_unknown = |name: &&String| !self.values.contains_key(*name);
        self.given.keys().find(is_unknown).map(String::as_str)
    }

    /// Declares a parameter with the value of the file, an expression of the parameters before it.
    pub(crate) fn declare(&mut self, name: &str, text: Option<&str>) -> Result<(), Wrong> {
        let own = text.map(|text| arithmetic::value(text, &self.values));
        let value = match (self.given.get(name), own.transpose()?) {
            (Some(&given), _) => given,
            (None, Some(own)) => own,
            (None, None) => {
                return Err(Wrong {
                    expected: "a value (--set NAME=VALUE gives it one)".to_owned(),
                    found: format!("the parameter {name} without a value"),
                });
            }
        };
        if Rc::make_mut(&mut self.values)
            .insert(name.to_owned(), value)
            .is_some()
        {
            return Err(Wrong {
                expected: "a name of its own".to_owned(),
                found: format!("{name}, which is declared before"),
            });
        }
        self.declared.push((name.to_owned(), value));
        Ok(())
    }

    pub(crate) fn values(&self) -> &Rc<Values> {
        &self.values
    }
}
