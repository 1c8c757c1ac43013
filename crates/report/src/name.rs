//! The names that values carry in machine-readable output: lower case, words joined by `-`, stable.

/// A value with a stable name for output.
pub trait Name {
    /// All names there are.
    const NAMES: &'static [&'static str];

    /// The name: lower case, words joined by `-`.
    fn name(&self) -> &'static str;
}

/// Implements [`Name`] for an enum: each variant with its name.
///
/// ```
/// use inorder_report::{Name, names};
///
/// enum Weather {
///     Dry,
///     RainyAgain,
/// }
/// names!(Weather { Dry => "dry", RainyAgain => "rainy-again" });
/// assert_eq!(Weather::RainyAgain.name(), "rainy-again");
/// assert_eq!(Weather::NAMES, ["dry", "rainy-again"]);
/// # let _ = Weather::Dry;
/// ```
///
/// With `all`, the enum also has a constant `ALL` of its variants, in this order.
#[macro_export]
macro_rules! names {
    ($type:ty { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $crate::Name for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn name(&self) -> &'static str {
                match self { $(<$type>::$variant => $name),+ }
            }
        }
    };
    (all $type:ty { $($variant:ident => $name:literal),+ $(,)? }) => {
        $crate::names!($type { $($variant => $name),+ });

        impl $type {
            /// All there are, in the order of the declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
        }
    };
}
