//! Sources of bytes: files, the standard input, any reader.

#[cfg(feature = "files")]
mod below;
mod input;
mod reader;
#[cfg(feature = "files")]
mod stdin;

#[cfg(feature = "files")]
pub use below::Below;
pub use input::Input;
pub(crate) use reader::{Reader, describe};
#[cfg(feature = "files")]
pub use stdin::Stdin;
