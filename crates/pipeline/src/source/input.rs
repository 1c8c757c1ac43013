//! Describes an input that is not opened yet.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What to read as one capture: a file, several files one after the other, or any reader.
///
/// ```
/// use inorder_pipeline::Input;
///
/// assert_eq!(Input::file("trace.pcap").name(), "trace.pcap");
/// assert_eq!(Input::file("-").name(), "standard input");
/// assert_eq!(Input::files(["a.0", "a.1", "a.2"]).name(), "a.0 and 2 more");
/// assert_eq!(Input::reader("upload", std::io::empty()).name(), "upload");
/// ```
#[derive(Debug)]
pub struct Input {
    /// In reverse order, so that the next part is popped from the end.
    pub(super) parts: VecDeque<Part>,
    name: String,
}

/// One file or reader.
pub(super) enum Part {
    /// A file, opened when the parts before it are read; `-` is the standard input.
    File(PathBuf),
    Reader(String, Box<dyn Read + Send>),
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::File(path) => f.debug_tuple("File").field(path).finish(),
            Part::Reader(name, _) => f.debug_tuple("Reader").field(name).finish(),
        }
    }
}

impl Input {
    /// One file; `-` is the standard input.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Input::files([path])
    }

    /// Files that follow each other, such as those of a rotated capture. Frame numbers continue from file to file.
    pub fn files<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let path = |path: P| path.as_ref().to_owned();
        let paths: Vec<PathBuf> = paths.into_iter().map(path).collect();
        Input {
            name: name(&paths),
            parts: paths.into_iter().map(Part::File).collect(),
        }
    }

    /// Anything that can be read; `name` is for messages and reports.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let name = name.into();
        let part = Part::Reader(name.clone(), Box::new(reader));
        Input {
            parts: VecDeque::from([part]),
            name,
        }
    }

    /// The same input once more, if it consists of files that can be read again.
    pub(crate) fn again(&self) -> Option<Self> {
        let file = |part: &Part| match part {
            Part::File(path) if path.as_os_str() != "-" && path.is_file() => {
                Some(Part::File(path.clone()))
            }
            _ => None,
        };
        Some(Input {
            parts: self.parts.iter().map(file).collect::<Option<_>>()?,
            name: self.name.clone(),
        })
    }

    /// One name for all parts, as text for people.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<P: AsRef<Path>> From<P> for Input {
    fn from(path: P) -> Self {
        Input::file(path)
    }
}

/// One name for all files.
fn name(files: &[PathBuf]) -> String {
    let show = |path: &Path| match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => path.display().to_string(),
    };
    match files {
        [] => String::new(),
        [one] => show(one),
        [first, rest @ ..] => format!("{} and {} more", show(first), rest.len()),
    }
}
