//! The guest's root: an archive with the guest's program, `ip`, `tc` and the libraries they need, and nothing else of
//! the machine. The kernel unpacks it into memory.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The guest's first program, in the archive.
pub(crate) const INIT: &str = "/inorder-guest";
/// The programs of the machine that the guest calls, and the package they come from.
pub(crate) const PROGRAMS: [&str; 2] = ["ip", "tc"];
/// Where they are looked for besides the search path: users without privileges often do not have these in it.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Finds a program of the machine.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.iter().map(PathBuf::from));
    folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The files of a root, by their place in it.
#[derive(Default)]
pub struct Root {
    files: BTreeMap<String, PathBuf>,
}

impl Root {
    /// The root for this guest program.
    ///
    /// # Errors
    /// If a program is missing.
    pub fn new(guest: &Path) -> io::Result<Self> {
        let mut root = Root::default();
        root.add(INIT, guest)?;
        for name in PROGRAMS {
            let missing = || {
                io::Error::other(format!(
                    "the program {name} (Debian: apt-get install iproute2)"
                ))
            };
            root.add(&format!("/bin/{name}"), &find(name).ok_or_else(missing)?)?;
        }
        Ok(root)
    }

    /// Adds a program with its libraries.
    fn add(&mut self, place: &str, program: &Path) -> io::Result<()> {
        self.files.insert(place.to_owned(), program.to_owned());
        let shown = Command::new("ldd").arg(program).output()?;
        for library in libraries(&String::from_utf8_lossy(&shown.stdout)) {
            self.files.insert(library.clone(), PathBuf::from(library));
        }
        Ok(())
    }

    /// Writes the root as an archive of the format that kernels unpack.
    ///
    /// # Errors
    /// If a file cannot be read, or the archive not be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut archive = Archive {
            out,
            entries: 0,
            written: 0,
        };
        for folder in self.folders() {
            archive.entry(&folder, 0o040_755, &[])?;
        }
        for (place, path) in &self.files {
            archive.entry(place, 0o100_755, &std::fs::read(path)?)?;
        }
        archive.entry("TRAILER!!!", 0, &[])
    }

    /// All folders, outer ones first, and those on which the guest mounts something.
    fn folders(&self) -> Vec<String> {
        let mut folders: Vec<String> = ["/dev", "/proc", "/sys", "/run", "/out"]
            .map(str::to_owned)
            .into();
        for place in self.files.keys() {
            let ends = place.match_indices('/').skip(1);
            folders.extend(ends.map(|(end, _)| place[..end].to_owned()));
        }
        folders.sort();
        folders.dedup();
        folders
    }
}

/// The paths in the output of `ldd`.
fn libraries(text: &str) -> Vec<String> {
    let paths = text.lines().filter_map(|line| {
        let path = line.split_once("=>").map_or(line, |(_, path)| path);
        path.split_whitespace()
            .next()
            .filter(|path| path.starts_with('/'))
    });
    paths.map(str::to_owned).collect()
}

/// An archive in the format "newc" of cpio (`Documentation/driver-api/early-userspace/buffer-format.rst`).
struct Archive<'w> {
    out: &'w mut dyn Write,
    entries: u32,
    written: usize,
}

impl Archive<'_> {
    fn entry(&mut self, place: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let name = place.trim_start_matches('/');
        let size = u32::try_from(content.len()).map_err(io::Error::other)?;
        // Inode, mode, owner, group, links, time, size, device, device of a special file, length of the name, checksum.
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            size,
            0,
            0,
            0,
            0,
            name.len() as u32 + 1,
            0,
        ];
        let mut head = b"070701".to_vec();
        for field in fields {
            head.extend(format!("{field:08X}").bytes());
        }
        head.extend(name.bytes());
        head.push(0);
        self.padded(&head)?;
        self.padded(content)
    }

    /// Writes bytes, and zeros up to a multiple of four.
    fn padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        let zeros = bytes.len().next_multiple_of(4) - bytes.len();
        self.out.write_all(&[0; 3][..zeros])?;
        self.written += bytes.len() + zeros;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_ldd() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n\tlibmissing.so => not found\n";
        assert_eq!(
            libraries(text),
            [
                "/lib/x86_64-linux-gnu/libc.so.6",
                "/lib64/ld-linux-x86-64.so.2"
            ]
        );
        assert_eq!(
            libraries("\tnot a dynamic executable\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_archive_is_aligned_and_ends() {
        let mut bytes = Vec::new();
        let mut archive = Archive {
            out: &mut bytes,
            entries: 0,
            written: 0,
        };
        archive.entry("/bin/x", 0o100_755, b"12345").unwrap();
        archive.entry("TRAILER!!!", 0, &[]).unwrap();
        // 110 bytes of header, the name with its zero, all aligned to 4.
        assert_eq!(&bytes[..6], b"070701");
        assert_eq!(&bytes[110..116], b"bin/x\0");
        assert_eq!(&bytes[116..124], b"12345\0\0\0");
        assert_eq!(&bytes[124..130], b"070701");
        assert_eq!(bytes.len() % 4, 0);
    }
}
