//! Columns as a list, a line each.

/// Declares a slice of [`Column`](crate::Column)s, a line for each: name, [`Kind`](crate::Kind), what it says, how it is read from a
/// row, and what else there is to it, as the methods of [`Column`](crate::Column) say.
///
/// The kinds [`Object`](crate::Object), [`Maybe`](crate::Maybe), [`Part`](crate::Part), `Rows` (a [`List`](crate::List))
/// and `Keyed` (a [`Map`](crate::Map)) have the columns of the rows inside a row, and read a reference to these. `Nested` has
/// a type that implements [`Nested`](crate::Nested) and writes them itself. `Texts` is a list of texts. Those of a document
/// begin with `format` and its [name](crate::Column::format).
///
/// ```
/// use inorder_report::{columns, csv};
///
/// struct Flow { name: String, packets: u64, min_rtt_ns: Option<i64> }
///
/// columns! {
///     /// What is said of a flow.
///     pub FLOWS: Flow, |f|
///     "flow": Text, "Which flow." => &f.name, shown("flow", 0);
///     "packets": Count, "Data packets." => f.packets;
///     "min_rtt_ms": Duration, "Smallest round-trip time." => f.min_rtt_ns, optional(), shown("RTT", 1);
/// }
///
/// let flows = [Flow { name: "a".into(), packets: 1_200, min_rtt_ns: Some(12_400_000) }];
/// let mut out = Vec::new();
/// csv::write(&mut out, FLOWS, &flows)?;
/// assert_eq!(String::from_utf8_lossy(&out), "flow,packets,min_rtt_ms\na,1200,12.4\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[macro_export]
macro_rules! columns {
    ($(#[$doc:meta])* $vis:vis $list:ident: $row:ty, |$of:ident|
        $(format $format:expr;)?
        $($name:literal: $kind:ident $(($($inner:expr),+))?, $about:expr => $value:expr $(, $more:ident($($arg:expr),*))*;)+
    ) => {
        $(#[$doc])*
        $vis static $list: &[$crate::Column<$row>] = &[$(<$crate::Column<$row>>::format($format),)? $(
            $crate::column!($row, $name, $about, $kind $(($($inner),+))?, |$of| $value)$(.$more($($arg),*))*
        ),+];
    };
}

/// One line of [`columns!`].
#[doc(hidden)]
#[macro_export]
macro_rules! column {
    ($row:ty, $name:literal, $about:expr, Nested($rows:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$rows)
    };
    ($row:ty, $name:literal, $about:expr, Texts, |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::texts($name, $about, |$of| $value)
    };
    ($row:ty, $name:literal, $about:expr, Rows($columns:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$crate::List {
            columns: $columns,
            of: |$of: &$row| $value,
        })
    };
    ($row:ty, $name:literal, $about:expr, Keyed($columns:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$crate::Map {
            columns: $columns,
            of: |$of: &$row| $value,
        })
    };
    ($row:ty, $name:literal, $about:expr, Object($columns:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$crate::Object {
            columns: $columns,
            of: |$of: &$row| $value,
        })
    };
    ($row:ty, $name:literal, $about:expr, Maybe($columns:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$crate::Maybe {
            columns: $columns,
            of: |$of: &$row| $value,
        })
    };
    ($row:ty, $name:literal, $about:expr, Part($columns:expr), |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::nested($name, $about, &$crate::Part {
            columns: $columns,
            of: |$of: &$row| $value,
        })
    };
    ($row:ty, $name:literal, $about:expr, $kind:ident $(($($inner:expr),+))?, |$of:ident| $value:expr) => {
        <$crate::Column<$row>>::new($name, $crate::Kind::$kind $(($($inner),+))?, $about, |$of| $value.into())
    };
}
