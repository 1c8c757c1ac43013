//! The lab's kernel: built once from the distribution's source package, kept in the user's cache folder; or the ready one of a
//! package.

mod build;
mod modules;
mod package;
mod source;

use std::path::{Path, PathBuf};

pub use build::{Building, build};
pub use package::Package;
pub use source::Source;

/// What the lab's kernel has beyond the default configuration.
const FRAGMENT: &str = include_str!("../../kernel/fragment.config");
/// What a kernel that checks itself has in addition.
const CHECKS: &str = include_str!("../../kernel/checks.config");

/// The version of a scenario that names none.
pub const DEFAULT: &str = "6.1";

/// A configuration of the lab's kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// For scenarios.
    Usual,
    /// Checks its memory accesses, locks and leaks, at several times the cost: for tests of modules.
    Checked,
}

impl Kind {
    /// Lines of the configuration beyond the default one.
    pub fn fragment(self) -> String {
        match self {
            Kind::Usual => FRAGMENT.to_owned(),
            Kind::Checked => FRAGMENT.to_owned() + CHECKS,
        }
    }

    /// Identifies the configuration and the changes to the source: FNV-1a of all of it.
    pub fn fingerprint(self) -> String {
        let fragment = self.fragment();
        let edits = EDITS
            .iter()
            .flat_map(|edit| [edit.file, edit.from, edit.to]);
        let bytes = edits.chain([fragment.as_str()]).flat_map(str::bytes);
        let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        format!("{hash:08x}")
    }
}

/// A change to the source.
pub struct Edit {
    /// The file.
    pub file: &'static str,
    /// What stands there.
    pub from: &'static str,
    /// What stands there instead.
    pub to: &'static str,
    /// Whether a source without `from` is refused; otherwise it has no need of the change.
    pub is_needed: bool,
}

/// All changes to the source.
pub(crate) const EDITS: &[Edit] = &[
    // With 10 ms jiffies TCP's timers and RACK's reordering window come late.
    Edit {
        file: "arch/um/Kconfig",
        from: "config HZ\n\tint\n\tdefault 100\n",
        to: "config HZ\n\tint\n\tdefault 1000\n",
        is_needed: true,
    },
    // 2,696 bytes of a processor's register state are too few for processors with AMX, which let their 11,008 be
    // written only as a whole.
    Edit {
        file: "arch/x86/um/user-offsets.c",
        from: "DEFINE_LONGS(HOST_FP_SIZE, 2696)",
        to: "DEFINE_LONGS(HOST_FP_SIZE, 12288)",
        is_needed: false,
    },
];

/// A kernel in the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its folder: `linux`, `config`, and `build` for modules.
    pub folder: PathBuf,
    /// Its version: `6.1.192`.
    pub version: String,
    /// Identifies configuration and changes.
    pub config: String,
}

impl Kernel {
    /// The executable.
    pub fn executable(&self) -> PathBuf {
        self.folder.join("linux")
    }

    /// The kernel of this kind and version (`6.1`, or all of it: `6.1.192`) in a cache; of several, the newest.
    pub fn cached(cache: &Path, version: &str, kind: Kind) -> Option<Kernel> {
        let entries = std::fs::read_dir(cache).ok()?.flatten();
        let kernels = entries.filter_map(|entry| Kernel::of_folder(entry.path()));
        let config = kind.fingerprint();
        let fits = |kernel: &Kernel| {
            let rest = kernel.version.strip_prefix(version);
            kernel.config == config
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        kernels
            .filter(fits)
            .max_by_key(|kernel| numbers(&kernel.version))
    }

    fn of_folder(folder: PathBuf) -> Option<Kernel> {
        let name = folder.file_name()?.to_str()?.to_owned();
        let (version, config) = name.rsplit_once('-')?;
        let kernel = Kernel {
            version: version.to_owned(),
            config: config.to_owned(),
            folder,
        };
        kernel.executable().is_file().then_some(kernel)
    }
}

/// The parts of a version, for comparison.
fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

/// The user's cache folder for kernels.
pub fn cache() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let cache =
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("inorder").join("uml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_kernels_the_newest_that_fits() {
        let cache = tempfile::tempdir().unwrap();
        let config = Kind::Usual.fingerprint();
        for name in [
            &format!("6.1.9-{config}"),
            &format!("6.1.10-{config}"),
            "6.1.99-00000000",
            &format!("6.12.3-{config}"),
        ] {
            let folder = cache.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("linux"), "").unwrap();
        }
        let found = |version| {
            Kernel::cached(cache.path(), version, Kind::Usual).map(|kernel| kernel.version)
        };
        assert_eq!(found("6.1").as_deref(), Some("6.1.10"));
        assert_eq!(found("6.1.9").as_deref(), Some("6.1.9"));
        assert_eq!(found("6.12").as_deref(), Some("6.12.3"));
        assert_eq!(found("6.2"), None);
    }
}
