//! A file in memory without copying it, as long as nobody may change it.
//!
//! Reading copies every byte once, which takes a quarter of the time of an analysis of headers.
//! A mapped file is not copied, but whoever reads a page that the file has lost meanwhile is
//! killed (SIGBUS), and captures are truncated while they are read: `tcpdump -W` does it. So a
//! file is mapped only under a read lease (fcntl(2), `F_SETLEASE`): the kernel grants it when
//! nobody has the file open for writing, and then keeps whoever wants to write to the file
//! or to truncate it waiting until the lease is given back, which is after the current block, or
//! until `/proc/sys/fs/lease-break-time` (45 s) has passed.
//!
//! Where there is no lease (a file of somebody else, a file being written, a network file
//! system, a system other than Linux) the file is read. What is left of the danger: a disk that
//! fails, and a process that is kept from running for longer than the lease lasts.

use std::fs::File;
use std::sync::Arc;

/// What has been used is given back in pieces of so many bytes, a piece later, for other threads
/// may still look at it: memory must not grow with the file.
const PIECE: usize = 2 << 20;

/// Shorter files are read: there is nothing to gain.
pub(crate) const WORTHWHILE: u64 = 16 << 20;

/// A piece of a mapped file.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    file: Arc<Mapping>,
    from: usize,
    to: usize,
}

impl Window {
    /// At most `len` bytes from `from` on; windows move on through the file.
    pub(crate) fn new(file: &Arc<Mapping>, from: u64, len: usize) -> Window {
        let size = file.bytes().len();
        let from = usize::try_from(from).unwrap_or(size).min(size);
        let to = from.saturating_add(len).min(size);
        let (piece, next) = (from / PIECE, to / PIECE);
        if from == 0 || next > piece {
            file.fetch(next * PIECE, 2 * PIECE);
        }
        if next > piece && piece > 0 {
            file.give_back((piece - 1) * PIECE, (next - piece) * PIECE);
        }
        Window {
            file: Arc::clone(file),
            from,
            to,
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        let bytes = self.file.bytes();
        bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// The file ends here.
    pub(crate) fn is_last(&self) -> bool {
        self.to == self.file.bytes().len()
    }
}

// Other architectures number the commands differently.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod leased {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    /// Which signal tells of somebody waiting (include/uapi/asm-generic/fcntl.h).
    const F_SETSIG: libc::c_int = 10;

    /// A whole file, mapped and leased; both end with it.
    #[derive(Debug)]
    pub(crate) struct Mapping {
        // In this order: the lease must outlive the map.
        map: memmap2::Mmap,
        lease: Lease,
    }

    #[derive(Debug)]
    struct Lease(File);

    impl Mapping {
        /// Maps `file`, if nobody can change it meanwhile.
        pub(super) fn new(file: &File) -> Option<Mapping> {
            let lease = Lease::take(file.try_clone().ok()?)?;
            // SAFETY: the lease keeps the file from being written to and truncated.
            let map = unsafe { memmap2::Mmap::map(&lease.0) }.ok()?;
            // Only a hint.
            let _ = map.advise(memmap2::Advice::Sequential);
            Some(Mapping { map, lease })
        }

        /// Somebody waits for the file: it should be let go.
        pub(crate) fn is_wanted(&self) -> bool {
            self.lease.control(libc::F_GETLEASE, 0) != Some(libc::F_RDLCK)
        }

        #[inline]
        pub(crate) fn bytes(&self) -> &[u8] {
            &self.map
        }

        /// These bytes will be looked at soon.
        pub(super) fn fetch(&self, from: usize, len: usize) {
            let len = len.min(self.map.len().saturating_sub(from));
            // Only a hint.
            let _ = self
                .map
                .advise_range(memmap2::Advice::PopulateRead, from, len);
        }

        /// These bytes need not stay in memory; whoever looks at them again gets them again.
        pub(super) fn give_back(&self, from: usize, len: usize) {
            // SAFETY: nothing was changed, so what is read again from the file is the same.
            let result = unsafe {
                self.map
                    .unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, len)
            };
            // Only a hint.
            let _ = result;
        }
    }

    impl Lease {
        fn take(file: File) -> Option<Lease> {
            let lease = Lease(file);
            // The signal that tells of somebody waiting would end the process by default; this
            // one is ignored by default. It is asked instead, see `is_wanted`.
            lease.control(F_SETSIG, libc::SIGURG)?;
            lease.control(libc::F_SETLEASE, libc::F_RDLCK)?;
            Some(lease)
        }

        fn control(&self, command: libc::c_int, argument: libc::c_int) -> Option<libc::c_int> {
            // SAFETY: the descriptor is open, and these commands take and return integers.
            let result = unsafe { libc::fcntl(self.0.as_raw_fd(), command, argument) };
            (result >= 0).then_some(result)
        }
    }

    impl Drop for Lease {
        fn drop(&mut self) {
            // Others may hold the same open file, so it is not enough to close this one.
            self.control(libc::F_SETLEASE, libc::F_UNLCK);
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod leased {
    use std::fs::File;

    /// No file is mapped.
    #[derive(Debug)]
    pub(crate) enum Mapping {}

    impl Mapping {
        pub(super) fn new(_: &File) -> Option<Mapping> {
            None
        }

        pub(crate) fn is_wanted(&self) -> bool {
            match *self {}
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            match *self {}
        }

        pub(super) fn fetch(&self, _: usize, _: usize) {
            match *self {}
        }

        pub(super) fn give_back(&self, _: usize, _: usize) {
            match *self {}
        }
    }
}

pub(crate) use leased::Mapping;

/// Maps `file` if it has at least `from_len` bytes and nobody can change it meanwhile.
pub(crate) fn map(file: &File, from_len: u64) -> Option<Arc<Mapping>> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() < from_len.max(1) {
        return None;
    }
    Mapping::new(file).map(Arc::new)
}

#[cfg(all(
    test,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod tests {
    use crate::{Block, Capture, CaptureError, PcapWriter};
    use inorder_wire::{Frame, LinkType};
    use std::fs::OpenOptions;
    use std::path::PathBuf;

    /// A file that goes away with its owner.
    struct TempFile(PathBuf);

    impl TempFile {
        /// Frames of changing length, one of them longer than a block.
        fn new(name: &str, frames: u32) -> Self {
            let path = std::env::temp_dir().join(format!("inorder-{}-{name}", std::process::id()));
            let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, 1 << 20).unwrap();
            for number in 0..frames {
                let len = if number == 5 {
                    600_000
                } else {
                    60 + number % 41
                };
                let data = vec![number as u8; len as usize];
                let frame = Frame {
                    ts_ns: i64::from(number) * 1_000,
                    number: 0,
                    link: LinkType::ETHERNET,
                    orig_len: len,
                    data: &data,
                };
                writer.write(&frame).unwrap();
            }
            std::fs::write(&path, writer.into_inner()).unwrap();
            TempFile(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    type Seen = Vec<(u64, i64, usize, Option<u8>)>;

    fn look(block: &Block, seen: &mut Seen) {
        let of = |f: Frame<'_>| (f.number, f.ts_ns, f.data.len(), f.data.last().copied());
        seen.extend(block.frames().map(of));
    }

    fn read(mut capture: Capture) -> (Seen, Option<CaptureError>) {
        let (mut block, mut seen) = (Block::default(), Vec::new());
        loop {
            let result = capture.read_block(&mut block);
            look(&block, &mut seen);
            match result {
                Ok(true) => {}
                Ok(false) => return (seen, None),
                Err(error) => return (seen, Some(error)),
            }
        }
    }

    #[test]
    fn a_mapped_file_is_what_a_read_one_is() {
        let file = TempFile::new("mapped.pcap", 80_000);
        let mapped = Capture::open_mapped(&file.0, 0).unwrap();
        assert!(mapped.is_mapped());
        let plain = Capture::open_mapped(&file.0, u64::MAX).unwrap();
        assert!(!plain.is_mapped());
        let (seen, error) = read(mapped);
        assert!(error.is_none());
        assert_eq!(seen.len(), 80_000);
        assert!(seen == read(plain).0);
    }

    #[test]
    fn a_file_that_ends_in_a_record_is_damaged_in_the_same_place() {
        let file = TempFile::new("cut.pcap", 9_000);
        let len = std::fs::metadata(&file.0).unwrap().len();
        let cut = OpenOptions::new().write(true).open(&file.0).unwrap();
        cut.set_len(len - 3).unwrap();
        drop(cut);
        let [mapped, plain] = [0, u64::MAX].map(|from| {
            let (seen, error) = read(Capture::open_mapped(&file.0, from).unwrap());
            (seen, error.unwrap().to_string())
        });
        assert!(mapped == plain);
        assert_eq!(mapped.0.len(), 8_999);
    }

    #[test]
    fn a_file_that_is_being_written_is_read() {
        let file = TempFile::new("written.pcap", 10);
        let writer = OpenOptions::new().append(true).open(&file.0).unwrap();
        assert!(!Capture::open_mapped(&file.0, 0).unwrap().is_mapped());
        drop(writer);
        assert!(Capture::open_mapped(&file.0, 0).unwrap().is_mapped());
    }

    #[test]
    fn whoever_truncates_the_file_waits_for_the_block_and_nobody_dies() {
        let file = TempFile::new("truncated.pcap", 80_000);
        let mut capture = Capture::open_mapped(&file.0, 0).unwrap();
        let (mut block, mut seen) = (Block::default(), Vec::new());
        assert!(capture.read_block(&mut block).unwrap());
        std::thread::scope(|scope| {
            let truncated = scope.spawn(|| {
                let file = OpenOptions::new().write(true).open(&file.0).unwrap();
                file.set_len(1_000).unwrap();
            });
            let mut error = None;
            while error.is_none() {
                // Still there, as long as the block is.
                look(&block, &mut seen);
                error = match capture.read_block(&mut block) {
                    Ok(true) => None,
                    Ok(false) => break,
                    Err(error) => Some(error),
                };
            }
            block.clear();
            drop(capture);
            truncated.join().unwrap();
        });
        let numbers = |s: &Seen| s.iter().all(|f| f.3 == Some((f.0 - 1) as u8));
        assert!(numbers(&seen) && !seen.is_empty());
    }
}
