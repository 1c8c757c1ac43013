//! A writer of pcapng with nanoseconds and comments.

use super::invalid;
use crate::info::Interface;
use inorder_wire::Frame;
use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// Timestamps are unsigned and relative to the offset of their interface. For times before 1970 the offset is the
/// earliest second that a 64-bit number of nanoseconds can represent (in the year 1677).
const EARLY_OFFSET_S: i64 = i64::MIN.div_euclid(1_000_000_000);

/// An interface of a [`PcapNgWriter`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterfaceId(usize);

/// Writes one section of pcapng with timestamps in nanoseconds, little-endian.
#[derive(Debug)]
pub struct PcapNgWriter<W> {
    out: W,
    interfaces: Vec<Written>,
    /// Interface descriptions written so far.
    described: u32,
    /// The block under construction.
    block: Vec<u8>,
}

#[derive(Debug)]
struct Written {
    interface: Interface,
    /// Its number in the file for times since 1970, as soon as it has one.
    usual: Option<u32>,
    /// Its number in the file for times before 1970.
    early: Option<u32>,
}

impl<W: Write> PcapNgWriter<W> {
    /// Writes the section header.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = PcapNgWriter {
            out,
            interfaces: Vec::new(),
            described: 0,
            block: Vec::new(),
        };
        writer.begin(SECTION_HEADER);
        writer.block.extend(0x1a2b_3c4du32.to_le_bytes());
        // Version 1.0; the length of the section is unspecified.
        writer.block.extend([1, 0, 0, 0]);
        writer.block.extend([0xff; 8]);
        writer.finish()?;
        Ok(writer)
    }

    /// Registers an interface; its description is written before its first frame.
    pub fn add_interface(&mut self, interface: Interface) -> InterfaceId {
        self.interfaces.push(Written {
            interface,
            usual: None,
            early: None,
        });
        InterfaceId(self.interfaces.len() - 1)
    }

    /// Writes one frame with an optional comment, which is cut to 65535 bytes.
    pub fn write(
        &mut self,
        interface: InterfaceId,
        frame: &Frame<'_>,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let early = frame.ts_ns < 0;
        let number = self.described(interface, early)?;
        let offset_ns = if early {
            i128::from(EARLY_OFFSET_S) * 1_000_000_000
        } else {
            0
        };
        let units = (i128::from(frame.ts_ns) - offset_ns) as u64;
        let captured = u32::try_from(frame.data.len())
            .map_err(|_| invalid(format!("a frame of {} bytes", frame.data.len())))?;
        self.begin(ENHANCED_PACKET);
        let words = [
            number,
            (units >> 32) as u32,
            units as u32,
            captured,
            frame.orig_len,
        ];
        for word in words {
            self.block.extend(word.to_le_bytes());
        }
        self.padded(frame.data);
        if let Some(comment) = comment {
            self.option(COMMENT, comment.as_bytes());
            self.option(END_OF_OPTIONS, &[]);
        }
        self.finish()
    }

    /// Returns the wrapped writer without flushing it.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// The number of an interface in the file; writes its description first if needed.
    fn described(&mut self, id: InterfaceId, early: bool) -> io::Result<u32> {
        let next = self.described;
        let written = self
            .interfaces
            .get_mut(id.0)
            .ok_or_else(|| invalid(format!("interface {} of another writer", id.0)))?;
        let slot = if early {
            &mut written.early
        } else {
            &mut written.usual
        };
        if let Some(number) = *slot {
            return Ok(number);
        }
        *slot = Some(next);
        let interface = written.interface.clone();
        self.describe(&interface, early)?;
        self.described += 1;
        Ok(next)
    }

    fn describe(&mut self, interface: &Interface, early: bool) -> io::Result<()> {
        self.begin(INTERFACE_DESCRIPTION);
        self.block.extend(interface.link.0.to_le_bytes());
        self.block.extend([0, 0]);
        self.block.extend(interface.snaplen.to_le_bytes());
        if let Some(name) = &interface.name {
            self.option(IF_NAME, name.as_bytes());
        }
        if let Some(description) = &interface.description {
            self.option(IF_DESCRIPTION, description.as_bytes());
        }
        self.option(IF_TSRESOL, &[9]);
        if early {
            self.option(IF_TSOFFSET, &EARLY_OFFSET_S.to_le_bytes());
        }
        self.option(END_OF_OPTIONS, &[]);
        self.finish()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        // Placeholder for the length, which is known at the end.
        self.block.extend([0; 4]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = shortened(value);
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    /// Appends bytes, padded with zeros to a multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn finish(&mut self) -> io::Result<()> {
        let len = u32::try_from(self.block.len() + 4)
            .map_err(|_| invalid(format!("a block of {} bytes", self.block.len())))?;
        if let Some(slot) = self.block.get_mut(4..8) {
            slot.copy_from_slice(&len.to_le_bytes());
        }
        self.block.extend(len.to_le_bytes());
        self.out.write_all(&self.block)
    }
}

/// At most as many bytes as an option can hold, cut between UTF-8 characters.
fn shortened(value: &[u8]) -> &[u8] {
    let mut len = value.len().min(usize::from(u16::MAX));
    // Continuation bytes are 10xxxxxx.
    while len > 0 && value.get(len).is_some_and(|byte| byte & 0xc0 == 0x80) {
        len -= 1;
    }
    value.get(..len).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_comments_are_cut_between_characters() {
        assert_eq!(shortened(b"short"), b"short");
        let long = "é".repeat(40_000);
        assert_eq!(shortened(long.as_bytes()).len(), 65_534);
        assert!(std::str::from_utf8(shortened(long.as_bytes())).is_ok());
    }
}
