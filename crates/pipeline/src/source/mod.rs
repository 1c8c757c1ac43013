//! Sources of bytes: files, the standard input, any reader.

mod below;
mod input;
mod pipe;
mod reader;

pub use below::Below;
pub use input::Input;
pub use pipe::{Pipe, is_pipe, open};
pub(crate) use reader::Reader;
