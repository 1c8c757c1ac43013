//! What a text says.

/// The text has these words.
#[track_caller]
pub(crate) fn says(text: impl AsRef<str>, words: &str) {
    let text = text.as_ref();
    assert!(text.contains(words), "it does not say {words:?}: {text}");
}

/// The text does not have these words.
#[track_caller]
pub(crate) fn omits(text: impl AsRef<str>, words: &str) {
    let text = text.as_ref();
    assert!(!text.contains(words), "it says {words:?}: {text}");
}
