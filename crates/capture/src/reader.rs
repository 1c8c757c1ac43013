//! The reader: one loop for all formats.

use crate::block::{Block, Layout};
use crate::error::CaptureError;
use crate::info::{Compression, FileInfo, Format, Interface};
use crate::pcap::{FILE_HEADER_LEN, FileHeader, Records, Walk};
use crate::pcapng::Sections;
use crate::snoop::{self, Snoop};
use crate::source::Source;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A capture that is read from front to back, one block at a time.
///
/// ```
/// # fn main() -> Result<(), inorder_capture::CaptureError> {
/// # use inorder_capture::{Block, Capture};
/// # let bytes: &'static [u8] = &[
/// #     0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 96, 0, 0, 0, 101, 0, 0, 0,
/// #     1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0, 0x45,
/// # ];
/// let mut capture = Capture::from_reader("example", Box::new(bytes))?;
/// let mut block = Block::default();
/// while capture.read_block(&mut block)? {
///     for frame in block.frames() {
///         assert_eq!((frame.ts_ns, frame.orig_len), (1_000_002_000, 40));
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Capture {
    source: Source,
    total: Option<u64>,
    info: FileInfo,
    format: Reading,
    /// The start of a record whose end has not been read yet.
    carry: Vec<u8>,
    /// Frames delivered.
    frames: u64,
    /// Offset of `carry` in the uncompressed file, bytes.
    offset: u64,
    /// The input has ended.
    ended: bool,
}

#[derive(Debug)]
enum Reading {
    Pcap(Records),
    PcapNg(Sections),
    Snoop(Snoop),
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("info", &self.info)
            .field("frames", &self.frames)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl Capture {
    /// Opens a file; `-` is the standard input.
    ///
    /// Files are read and not mapped: copying costs less than setting up pages, above all with several threads, and a
    /// capture that is truncated during the reading (`tcpdump -W`) cannot crash the program.
    pub fn open(path: &Path) -> Result<Capture, CaptureError> {
        if path.as_os_str() == "-" {
            return Capture::from_reader("standard input", Box::new(io::stdin()));
        }
        let name = path.display().to_string();
        let failed = |source| CaptureError::Io {
            name: name.clone(),
            offset: 0,
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let mut capture = Capture::from_reader(&name, Box::new(file))?;
        // The length of a pipe or a device is meaningless.
        capture.total = metadata.is_file().then_some(metadata.len());
        Ok(capture)
    }

    /// Reads from any reader; `name` is used in messages.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Capture, CaptureError> {
        let mut info = FileInfo {
            name: name.to_string(),
            format: Format::PcapNg,
            compression: Compression::Plain,
            snaplen: 0,
            interfaces: Vec::new(),
        };
        let mut source = Source::new(reader).map_err(|e| failure(&info, 0, e))?;
        info.compression = source.compression;
        let mut head = [0; FILE_HEADER_LEN];
        let (len, result) = source.fill(&mut head);
        result.map_err(|e| failure(&info, 0, e))?;
        let head = head.get(..len).unwrap_or_default();
        let (format, carry) = detect(head, &mut info)?;
        Ok(Capture {
            offset: (len - carry.len()) as u64,
            source,
            total: None,
            info,
            format,
            carry,
            frames: 0,
            ended: false,
        })
    }

    /// Clears `block` and fills it with the next frames, about 256 KiB. Returns `Ok(false)` at the end.
    ///
    /// After an error, `block` contains the frames before it, and every further call
    /// returns `Ok(false)`.
    pub fn read_block(&mut self, block: &mut Block) -> Result<bool, CaptureError> {
        if !self.begin(block) {
            return Ok(false);
        }
        let mut goal = block.goal();
        loop {
            let room = block.room(goal);
            let wanted = room.len();
            let (len, result) = self.source.fill(room);
            block.add_filled(len);
            let walk = self.walk(block);
            block.set_len(walk.frames);
            let at_end = len < wanted;
            if walk.frames > 0 || walk.damage.is_some() || at_end {
                return self.finish(block, walk, at_end, result);
            }
            // The input so far contained no frames, or a frame is longer than the buffer: continue reading.
            block.drop_front(walk.consumed);
            self.offset += walk.consumed as u64;
            goal = block.goal();
        }
    }

    /// Clears `block` and moves the rest of the previous block into it; false at the end.
    fn begin(&mut self, block: &mut Block) -> bool {
        let layout = match &self.format {
            Reading::Pcap(records) => Layout::Consecutive(*records),
            Reading::PcapNg(_) | Reading::Snoop(_) => Layout::Indexed,
        };
        block.restart(self.frames + 1, layout, &self.carry);
        self.carry.clear();
        !self.ended
    }

    /// Compressed bytes consumed so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.source.consumed()
    }

    /// Total number of compressed bytes if the input is a file.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total
    }

    /// The information in the file's headers; interfaces of a pcapng file are added as they are read.
    pub fn info(&self) -> &FileInfo {
        &self.info
    }

    fn walk(&mut self, block: &mut Block) -> Walk {
        match &mut self.format {
            Reading::Pcap(records) => records.walk(block.filled()),
            Reading::PcapNg(sections) => {
                let (bytes, records) = block.filled_and_records();
                sections.walk(bytes, records, &mut self.info)
            }
            Reading::Snoop(snoop) => {
                let (bytes, records) = block.filled_and_records();
                snoop.walk(bytes, records)
            }
        }
    }

    /// Ends a call: keeps the incomplete rest for the next call, or returns the error.
    fn finish(
        &mut self,
        block: &Block,
        walk: Walk,
        at_end: bool,
        result: io::Result<()>,
    ) -> Result<bool, CaptureError> {
        let left = block.filled().get(walk.consumed..).unwrap_or_default();
        self.frames += walk.frames as u64;
        self.offset += walk.consumed as u64;
        self.ended = at_end || walk.damage.is_some();
        let what = match walk.damage {
            Some(what) => what,
            None => {
                if let Err(e) = result {
                    return Err(failure(&self.info, self.offset + left.len() as u64, e));
                }
                if !self.ended {
                    self.carry.extend_from_slice(left);
                    return Ok(true);
                }
                if left.is_empty() {
                    return Ok(walk.frames > 0);
                }
                format!("the file ends {} bytes into a record", left.len())
            }
        };
        Err(CaptureError::Damaged {
            name: self.info.name.clone(),
            frame: self.frames + 1,
            offset: self.offset,
            what,
        })
    }
}

/// The format of a file that begins with `head`, and the bytes of `head` that belong to blocks.
fn detect(head: &[u8], info: &mut FileInfo) -> Result<(Reading, Vec<u8>), CaptureError> {
    if let [0x0a, 0x0d, 0x0d, 0x0a, ..] = head {
        return Ok((Reading::PcapNg(Sections::default()), head.to_vec()));
    }
    if let Some(snoop) = Snoop::read(head) {
        return open_snoop(snoop, head, info);
    }
    let Some(header) = head.first_chunk().and_then(FileHeader::read) else {
        return Err(CaptureError::NotACapture {
            name: info.name.clone(),
            found: describe(head),
        });
    };
    if !header.link.is_supported() {
        return Err(CaptureError::UnknownLinkType {
            name: info.name.clone(),
            link: header.link,
        });
    }
    info.format = header.format;
    info.snaplen = header.snaplen;
    info.interfaces.push(Interface {
        link: header.link,
        snaplen: header.snaplen,
        name: None,
        description: None,
    });
    Ok((Reading::Pcap(header.records), Vec::new()))
}

/// As [`detect`], of a snoop file, of which the header has been read.
fn open_snoop(
    snoop: Result<Snoop, String>,
    head: &[u8],
    info: &mut FileInfo,
) -> Result<(Reading, Vec<u8>), CaptureError> {
    let snoop = snoop.map_err(|found| CaptureError::NotACapture {
        name: info.name.clone(),
        found,
    })?;
    info.format = Format::Snoop;
    info.interfaces.push(Interface {
        link: snoop.link(),
        snaplen: 0,
        name: None,
        description: None,
    });
    let behind = head.get(snoop::FILE_HEADER_LEN..).unwrap_or_default();
    Ok((Reading::Snoop(snoop), behind.to_vec()))
}

/// A description of the first bytes of a file that is not a capture.
fn describe(head: &[u8]) -> String {
    match head {
        [] => "an empty file".to_string(),
        [b's', b'n', b'o', b'o', b'p', ..] => {
            format!("only {} bytes of a snoop file header", head.len())
        }
        [b'G', b'M', b'B', b'U', ..] => {
            "a Network Monitor capture, which `editcap -F pcapng` converts".to_string()
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => unpacked("a ZIP archive", "unzip -p"),
        [b'7', b'z', 0xbc, 0xaf, ..] => unpacked("a 7-Zip archive", "7z x -so"),
        [0xd4 | 0x4d | 0x34, 0xc3 | 0x3c | 0xcd, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0xc3 | 0x3c | 0xcd, 0xd4 | 0x4d | 0x34, ..] => {
            format!("only {} bytes of a pcap file header", head.len())
        }
        _ => {
            let first = head.get(..8).unwrap_or(head);
            match first
                .iter()
                .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
            {
                true => format!("text that begins with {:?}", String::from_utf8_lossy(first)),
                false => format!("a file that begins with the bytes{}", hexadecimal(first)),
            }
        }
    }
}

/// Compressed data, with the command that writes what is in them to its standard output.
fn unpacked(what: &str, command: &str) -> String {
    format!("{what}, which `{command}` decompresses")
}

/// ` d4 c3 b2 a1`.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!(" {byte:02x}")).collect()
}

fn failure(info: &FileInfo, offset: u64, source: io::Error) -> CaptureError {
    let name = info.name.clone();
    match info.compression {
        Compression::Plain => CaptureError::Io {
            name,
            offset,
            source,
        },
        compression => CaptureError::Decompress {
            name,
            compression,
            offset,
            source,
        },
    }
}
