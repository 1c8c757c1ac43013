//! What two captures, one at each end, say together.

use inorder_report::{Digits, columns};

use super::result::{PeerCounts, Score};

columns! {
    /// What one side knows of a flow.
    pub COUNTS: PeerCounts, |c|
    "originals": Count, "Original transmissions." => c.originals;
    "reordered": Count, "Of these, reordered." => c.reordered;
    "lost": Count, "Of these, lost." => c.lost;
    "refused": Count, "Of these, arrived and discarded by the receiver although it lacked their bytes." => c.refused;
    "spurious": Count, "Retransmissions whose original arrived." => c.spurious;
}

columns! {
    /// Agreement of inference and truth.
    pub AGREEMENT: Score, |s|
    "true_positives": Count, "Inferred and true." => s.true_positives, shown("right", 1);
    "false_positives": Count, "Inferred, not true." => s.false_positives;
    "false_negatives": Count, "True, not inferred." => s.false_negatives, shown("missed", 1);
    "precision": Number(Digits::Fixed(3)), "Share of the inferred that is true."
        => s.precision(), optional(), shown("precision", 0);
    "recall": Number(Digits::Fixed(3)), "Share of the true that was inferred."
        => s.recall(), optional(), shown("recall", 0);
    "f1": Number(Digits::Fixed(3)), "Harmonic mean of precision and recall." => s.f1(), optional(), shown("F1", 0);
}
