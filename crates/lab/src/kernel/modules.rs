//! Modules built against a kernel of the cache, and kept beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Kernel;

/// Words of make's output that tell what is wrong.
const PROBLEMS: [&str; 3] = ["error", "undefined", "***"];

impl Kernel {
    /// Where a module for this kernel is kept, whether it is there or not.
    pub fn module(&self, name: &str) -> PathBuf {
        self.folder.join("modules").join(format!("{name}.ko"))
    }

    /// Builds the modules of a folder with a Kbuild against this kernel and keeps them beside it. Returns their files.
    /// The folder is left as it is.
    ///
    /// # Errors
    /// If a step fails: which one, and the compiler's words.
    pub fn build_modules(&self, sources: &Path) -> Result<Vec<PathBuf>, String> {
        if !sources.join("Kbuild").is_file() {
            return Err(format!(
                "{}: there is no Kbuild in it; expected the folder of a module's sources",
                sources.display()
            ));
        }
        let scratch = tempfile::Builder::new()
            .prefix(".modules-")
            .tempdir_in(&self.folder);
        let scratch = scratch.map_err(|error| format!("{}: {error}", self.folder.display()))?;
        for file in files(sources)? {
            let name = file.file_name().unwrap_or_default();
            std::fs::copy(&file, scratch.path().join(name))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        make(&self.folder.join("build"), scratch.path())?;
        let modules = self.folder.join("modules");
        std::fs::create_dir_all(&modules)
            .map_err(|error| format!("{}: {error}", modules.display()))?;
        let built = files(scratch.path())?.into_iter();
        let mut kept = Vec::new();
        for file in built.filter(|file| file.extension().is_some_and(|end| end == "ko")) {
            let to = modules.join(file.file_name().unwrap_or_default());
            std::fs::rename(&file, &to).map_err(|error| format!("{}: {error}", to.display()))?;
            kept.push(to);
        }
        kept.sort();
        Ok(kept)
    }
}

/// The files of a folder, without those in folders of it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_file()).collect())
}

fn make(build: &Path, modules: &Path) -> Result<(), String> {
    let mut command = Command::new("make");
    command.arg("-C").arg(build).arg("ARCH=um");
    command
        .arg(format!("M={}", modules.display()))
        .arg("modules");
    let made = command.output().map_err(|error| format!("make: {error}"))?;
    if made.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&made.stderr);
    let said = said
        .lines()
        .filter(|line| PROBLEMS.iter().any(|word| line.contains(word)));
    let said: Vec<&str> = said.take(5).collect();
    Err(format!("building the modules failed: {}", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_module_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            folder: folder.path().to_owned(),
            version: "6.1.1".to_owned(),
            config: "0".to_owned(),
        };
        let error = kernel.build_modules(folder.path()).unwrap_err();
        assert!(error.contains("there is no Kbuild"), "{error}");
    }
}
