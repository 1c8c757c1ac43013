//! What two captures, one at each end, say together.

use inorder_report::{Column, Digits, Kind};

use super::result::{PeerCounts, Score};

type Counted = Column<PeerCounts>;

/// What one side knows of a flow.
pub static COUNTS: &[Column<PeerCounts>] = &[
    Counted::new("originals", Kind::Count, "Original transmissions.", |c| {
        c.originals.into()
    }),
    Counted::new("reordered", Kind::Count, "Of these, reordered.", |c| {
        c.reordered.into()
    }),
    Counted::new("lost", Kind::Count, "Of these, lost.", |c| c.lost.into()),
    Counted::new(
        "refused",
        Kind::Count,
        "Of these, arrived and discarded by the receiver although it lacked their bytes.",
        |c| c.refused.into(),
    ),
    Counted::new(
        "spurious",
        Kind::Count,
        "Retransmissions whose original arrived.",
        |c| c.spurious.into(),
    ),
];

type Of = Column<Score>;

/// Agreement of inference and truth.
pub static AGREEMENT: &[Column<Score>] = &[
    Of::new("true_positives", Kind::Count, "Inferred and true.", |s| {
        s.true_positives.into()
    })
    .shown("right", 1),
    Of::new("false_positives", Kind::Count, "Inferred, not true.", |s| {
        s.false_positives.into()
    }),
    Of::new("false_negatives", Kind::Count, "True, not inferred.", |s| {
        s.false_negatives.into()
    })
    .shown("missed", 1),
    Of::new(
        "precision",
        Kind::Number(Digits::Fixed(3)),
        "Share of the inferred that is true.",
        |s| s.precision().into(),
    )
    .optional()
    .shown("precision", 0),
    Of::new(
        "recall",
        Kind::Number(Digits::Fixed(3)),
        "Share of the true that was inferred.",
        |s| s.recall().into(),
    )
    .optional()
    .shown("recall", 0),
    Of::new(
        "f1",
        Kind::Number(Digits::Fixed(3)),
        "Harmonic mean of precision and recall.",
        |s| s.f1().into(),
    )
    .optional()
    .shown("F1", 0),
];
