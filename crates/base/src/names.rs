//! Names of values in files and outputs, and the known name that a mistyped name probably meant.

/// Declares an enum whose variants have names in files and outputs: lower case, words joined by `-`. It has `ALL` variants, all
/// `NAMES`, both in the order of the declaration, and the `name` of each.
///
/// ```
/// inorder_base::named! {
///     /// What the weather is.
///     #[derive(Clone, Copy, PartialEq, Eq, Debug)]
///     pub enum Weather {
///         /// No rain.
///         Dry = "dry",
///         /// Rain, as yesterday.
///         RainyAgain = "rainy-again",
///     }
/// }
/// assert_eq!(Weather::RainyAgain.name(), "rainy-again");
/// assert_eq!(Weather::NAMES, ["dry", "rainy-again"]);
/// assert_eq!(Weather::ALL[0], Weather::Dry);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $vis:vis enum $type:ident {
        $($(#[$meaning:meta])* $variant:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$about])*
        $vis enum $type {
            $($(#[$meaning])* $variant),+
        }

        #[allow(dead_code, reason = "not every enum needs both lists")]
        impl $type {
            /// All, in the order of the declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// All names, in the order of the declaration.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name in files and outputs.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

/// Maximum length in characters: longer names come from files and not from a keyboard, and comparing them takes long.
const MAX_CHARS: usize = 200;

/// The name of `known` that is nearest to `given`, if at most a third of the letters of `given` (or one letter) are
/// wrong: a name further away was probably not meant. A letter that is wrong, missing or superfluous counts as one
/// error, as do two swapped letters (F. J. Damerau, "A technique for computer detection and correction of spelling
/// errors", 1964). Case is ignored. Among equally near names the first in alphabetical order is returned.
///
/// ```
/// use inorder_base::names::nearest;
///
/// let known = ["reno", "cubic", "bbr"];
/// assert_eq!(nearest("cubci", known), Some("cubic"));
/// assert_eq!(nearest("vegas", known), None);
/// ```
pub fn nearest<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = given.to_lowercase();
    let length = given.chars().count();
    let most = (length / 3).max(1);
    let is_similar_in_length = |name: &&str| {
        let chars = name.chars().count();
        chars <= MAX_CHARS && chars.abs_diff(length) <= most
    };
    let near = known.into_iter().filter(is_similar_in_length);
    let distances = near.map(|name| {
        (
            strsim::damerau_levenshtein(&given, &name.to_lowercase()),
            name,
        )
    });
    distances
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let known = ["its", "strided", "global"];
        assert_eq!(nearest("stridet", known), Some("strided"));
        assert_eq!(nearest("it", known), Some("its"));
        assert_eq!(nearest("foo", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn letters_may_be_swapped_or_capitals() {
        let known = ["reno", "cubic", "cubic-2008"];
        assert_eq!(nearest("cubik", known), Some("cubic"));
        assert_eq!(nearest("CUBIC2008", known), Some("cubic-2008"));
        assert_eq!(nearest("erno", known), Some("reno"));
        assert_eq!(nearest("vegas", known), None);
    }

    #[test]
    fn names_from_files_may_be_of_any_length() {
        let long = "x".repeat(100_000);
        assert_eq!(nearest(&long, [long.as_str(), "x"]), None);
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
