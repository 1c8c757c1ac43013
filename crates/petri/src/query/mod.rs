//! Questions about a net: numbers over time, and formulas about the markings that can be reached.
//!
//! | query | answer |
//! |---|---|
//! | `P(queue >= 3 & idle = 0)` | the probability of a condition, in the long run or at a time |
//! | `E(2 * queue + (idle = 0))` | the mean of a number computed from the marking (a reward rate); a condition counts 1 where it holds |
//! | `EF queue >= 3`, `AG !deadlock` | whether a formula of computation tree logic holds in the initial marking |
//!
//! A condition compares (`=`, `!=`, `<`, `<=`, `>`, `>=`) sums, differences and products of numbers and places, where
//! a place means its number of tokens (`#queue` and `tokens(queue)` are the same as `queue`). `deadlock` is true where no transition is
//! enabled, `enabled(t)` where transition `t` is, whatever its priority. Conditions are joined by `!` (`not`), `&`
//! (`and`), `|` (`or`) and `=>`, in this order of strength.
//!
//! Formulas put `EX`, `AX`, `EF`, `AF`, `EG` or `AG` in front of a formula, or write `E[f U g]` and `A[f U g]`. They
//! are about firing sequences that are infinite or end in a deadlock, as in the Model Checking Contest. Immediate
//! transitions fire before timed ones and by priority, as everywhere in this crate.
//!
//! Names that are keywords, or contain other characters than letters, digits and `_.'/:@`, stand in double quotes.
//!
//! ```
//! use inorder_petri::query::{Query, Verdict};
//! use inorder_petri::reachability::Graph;
//!
//! let net = inorder_petri::text::read("two.net", "
//!     place free 2
//!     place held
//!     transition take exponential rate 1
//!       in free
//!       out held")?;
//! let graph = Graph::explore(&net, 100);
//! let Query::Holds(formula) = Query::read("AG (free + held = 2) & EF deadlock", &net)? else {
//!     unreachable!("a formula");
//! };
//! assert_eq!(formula.check(&net, &graph).verdict, Verdict::Holds);
//!
//! let error = Query::read("EF fre = 0", &net).unwrap_err();
//! assert_eq!(error.to_string(), "column 4: expected a place, found fre; did you mean free?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod formula;
mod parse;
mod words;

pub use check::{Checked, Verdict};
pub use formula::{Comparison, Formula, Paths, Sum};

use crate::net::Net;
use crate::text::Mistake;

/// A question about a net.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// The mean of a number over time: `E(...)`, and `P(...)` for that of a condition.
    Mean(Sum),
    /// Whether a formula holds in the initial marking.
    Holds(Formula),
}

/// An error in a query, with the column, counted in characters from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("column {column}: {mistake}")]
pub struct QueryError {
    /// The column.
    pub column: usize,
    /// What is wrong.
    pub mistake: Mistake,
}

impl Query {
    /// Reads a query about `net`.
    pub fn read(text: &str, net: &Net) -> Result<Self, QueryError> {
        parse::query(text, net)
    }
}

/// Reads any text as a query about a small net, and checks it if it is a formula.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    const NET: &str = "place a 2\nplace b\ntransition t exponential rate 1\n in a\n out b\n\
                       transition u exponential rate 1\n in b\n out a\n";
    let text = String::from_utf8_lossy(data);
    let Ok(net) = crate::text::read("fuzz", NET) else {
        return;
    };
    match Query::read(&text, &net) {
        Ok(Query::Holds(formula)) => {
            let graph = crate::reachability::Graph::explore(&net, 2);
            formula.check(&net, &graph);
        }
        Ok(Query::Mean(sum)) => {
            sum.value(&net, &[1, 1]);
        }
        Err(error) => assert!(error.column <= text.chars().count() + 1, "{error}"),
    }
}
