//! Where the guest's program is.

use std::path::PathBuf;

use crate::root;

/// Its name.
const NAME: &str = "inorder-guest";

/// The program of the guest, which is installed beside the command. If another program runs the lab (Python, for example),
/// it is looked for like any program.
///
/// # Errors
/// If there is none.
pub fn guest() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.with_file_name(NAME);
    let found = beside.is_file().then(|| beside.clone());
    found.or_else(|| root::find(NAME)).ok_or_else(|| {
        format!(
            "{}: there is no such program; expected it there or in a folder of PATH; `cargo install --path crates/cli` puts it \
             beside inorder",
            beside.display()
        )
    })
}
