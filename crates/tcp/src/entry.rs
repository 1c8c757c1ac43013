//! What can be selected by name.

/// An algorithm that can be selected by name.
#[derive(Debug)]
pub struct Entry<Algorithm: ?Sized> {
    /// Name in scenario files: lower case.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// RFC, draft, paper or kernel version that it follows.
    pub source: &'static str,
    /// Creates an instance.
    pub build: fn() -> Box<Algorithm>,
}
