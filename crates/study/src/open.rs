//! How captures are opened.

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use inorder_pipeline::Input;

use crate::work::Listed;

/// Opens captures. Files need no other than `&()`.
pub trait Open: Sync {
    /// Opens a capture as it was when it was listed.
    ///
    /// # Errors
    /// If it changed since, or cannot be opened.
    fn open(&self, capture: &Listed) -> Result<Input, Changed>;
}

/// Opens files.
impl Open for () {
    fn open(&self, capture: &Listed) -> Result<Input, Changed> {
        let path = Path::new(&capture.path);
        let about = fs::metadata(path).map_err(Changed::Unreadable)?;
        let modified = about.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let version = since.map(|since| since.as_nanos().to_string());
        let changed = |what: String| Err(Changed::Changed(what));
        match (capture.bytes, &capture.version) {
            (Some(bytes), _) if bytes != about.len() => changed(format!(
                "it had {bytes} bytes when the study began, and has {} now",
                about.len()
            )),
            (_, Some(planned)) if version.as_ref().is_some_and(|now| now != planned) => {
                changed("it was written again since the study began".to_owned())
            }
            _ => Ok(Input::file(path)),
        }
    }
}

/// Why a capture was not opened.
#[derive(Debug)]
pub enum Changed {
    /// It is not the one that was planned.
    Changed(String),
    /// It cannot be opened.
    Unreadable(io::Error),
}

/// An error of opening as one of reading.
impl From<io::Error> for Changed {
    fn from(error: io::Error) -> Self {
        Changed::Unreadable(error)
    }
}
