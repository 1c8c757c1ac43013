//! Sources of bytes: files, the standard input, any reader.

#[cfg(feature = "files")]
mod below;
mod input;
#[cfg(feature = "files")]
mod pipe;
mod reader;

#[cfg(feature = "files")]
pub use below::Below;
pub use input::Input;
#[cfg(feature = "files")]
pub use pipe::{Pipe, is_pipe, open};
pub(crate) use reader::{Reader, describe};
