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
            [0xfd, b'7', b'z', b'X'] => Compression::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9'] => Compression::Bzip2,
            [0x04, 0x22, 0x4d, 0x18] => Compression::Lz4,
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

/// What the dictionary of an xz stream may take: four times that of `xz -9`. The header of a file may ask for 4 GiB.
const XZ_MEMORY_KIB: u32 = 4 * 65 * 1024;

fn buffered<R: Read>(reader: R) -> io::BufReader<R> {
    io::BufReader::with_capacity(1 << 17, reader)
}

/// All frames of a file: the decoder itself ends after each.
struct Lz4Frames<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 => self.0.read(buf),
            n => Ok(n),
        }
    }
}

/// The bytes of `raw`, decompressed where its first bytes say that they are compressed in a way that captures can be.
///
/// # Errors
/// If `raw` cannot be read. Damage within compressed data is an error of the reader returned.
pub fn decompress(raw: impl Read + Send + 'static) -> io::Result<impl Read + Send> {
    Ok(Source::new(Box::new(raw))?.reader)
}

fn decompressor(compression: Compression, peeked: Peeked) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::Plain => Box::new(peeked),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(peeked))),
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(
            buffered(peeked),
            true,
            XZ_MEMORY_KIB,
        )),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(peeked))),
        Compression::Lz4 => Box::new(Lz4Frames(lz4_flex::frame::FrameDecoder::new(buffered(
            peeked,
        )))),
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
