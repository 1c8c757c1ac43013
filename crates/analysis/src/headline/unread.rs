//! What a capture has that is not analysed, by its name, and what would help.

use inorder_report::number::plural;

use crate::model::Analysis;

/// The connections of QUIC.
pub(super) fn quic(analysis: &Analysis) -> Option<String> {
    let quic = &analysis.quic;
    let (whose, they) = match quic.connections {
        0 => return None,
        1 => ("its", "its ends"),
        _ => ("their", "their ends"),
    };
    Some(format!(
        "{}{} ({}, {}): {whose} packet numbers are encrypted, so neither order nor loss is known; `inorder qlog` reads the \
         logs of {they}, and `inorder diff` compares captures of both ends.",
        if quic.is_least { "At least " } else { "" },
        plural(quic.connections, "QUIC connection"),
        quic.version_names(),
        plural(quic.datagrams, "packet"),
    ))
}
