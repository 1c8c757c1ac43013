//! Files that another file names: a scenario its traces, a net what it includes.

use std::io;
use std::path::Path;

/// Largest such file, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a file that another file names. That one may be a stranger's, so neither a device without an end nor a pipe is
/// read because of it.
///
/// # Errors
/// If it cannot be read, is no regular file or is larger than 64 MiB.
pub fn read(file: &Path) -> io::Result<String> {
    let found = std::fs::metadata(file)?;
    if !found.is_file() || found.len() > MAX_BYTES {
        let expected = format!("expected a file of at most {} MiB", MAX_BYTES >> 20);
        return Err(io::Error::other(expected));
    }
    std::fs::read_to_string(file)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(unix)]
    fn devices_are_not_read() {
        let refused = super::read("/dev/zero".as_ref()).expect_err("no file");
        assert_eq!(refused.to_string(), "expected a file of at most 64 MiB");
    }
}
