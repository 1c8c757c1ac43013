//! Opens a file or pipe, decompresses it, and counts the bytes consumed.

use crate::info::Compression;
use std::io::{self, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of bytes that are examined to recognise compression and format.
pub(crate) const MAGIC_LEN: usize = 4;

/// The uncompressed bytes of a capture.
pub(crate) struct Source {
    reader: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    pub(crate) compression: Compression,
}

/// Counts the bytes that the decompressor, or the reader itself, takes from the file.
struct Counting<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        // One thread writes; others only need an approximate value: no memory ordering is needed.
        self.consumed.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

type Peeked = Chain<Cursor<Vec<u8>>, Counting<Box<dyn Read + Send>>>;

impl Source {
    /// Examines the first bytes and adds a decompressor if they indicate one.
    pub(crate) fn new(raw: Box<dyn Read + Send>) -> io::Result<Source> {
        let consumed = Arc::new(AtomicU64::new(0));
        let mut counting = Counting {
            inner: raw,
            consumed: Arc::clone(&consumed),
        };
        let mut magic = Vec::with_capacity(MAGIC_LEN);
        counting
            .by_ref()
            .take(MAGIC_LEN as u64)
            .read_to_end(&mut magic)?;
        let compression = match *magic {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or a skippable frame, which parallel compressors write first (RFC 8878).
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Compression::Zstd,
            _ => Compression::Plain,
        };
        let peeked = Cursor::new(magic).chain(counting);
        Ok(Source {
            reader: decompressor(compression, peeked)?,
            consumed,
            compression,
        })
    }

    /// Compressed bytes taken so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Reads until `buf` is full or the input ends. Returns the number of bytes, and the error that stopped it.
    pub(crate) fn fill(&mut self, buf: &mut [u8]) -> (usize, io::Result<()>) {
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.reader.read(rest) {
                Ok(0) => break,
                // A faulty reader may claim to have read more than the buffer holds.
                Ok(n) => filled += n.min(rest.len()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return (filled, Err(e)),
            }
        }
        (filled, Ok(()))
    }
}

fn decompressor(compression: Compression, peeked: Peeked) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::Plain => Box::new(peeked),
        Compression::Gzip => {
            let buffered = io::BufReader::with_capacity(1 << 17, peeked);
            Box::new(flate2::bufread::MultiGzDecoder::new(buffered))
        }
        #[cfg(feature = "zstd")]
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(peeked)?),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "zstd data, and this program was built without the feature `zstd`",
            ));
        }
    })
}
