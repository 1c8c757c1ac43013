//! Sources of bytes: files, the standard input, any reader.

mod input;
mod reader;
#[cfg(feature = "files")]
mod stdin;

pub use input::Input;
pub(crate) use reader::{Reader, describe};
