//! A copy of a capture with comments on its packets.

use super::{InterfaceId, PcapNgWriter};
use crate::block::Block;
use crate::error::{AnnotateError, CaptureError};
use crate::reader::Capture;
use std::io::{self, Write};

/// Size of the write buffer, bytes.
const BUFFER: usize = 1 << 18;

/// Copies the rest of `capture` to `out` as pcapng. Each frame for whose number `comment` returns a text gets this
/// text as its comment (Wireshark shows it as `frame.comment`).
///
/// Names and link types of interfaces, captured bytes, lengths and timestamps (to the nanosecond) are kept; comments
/// and other options that the packets had are not. Returns the number of frames copied. A damaged capture is copied
/// up to the damage, and the damage is returned as the error.
pub fn annotate<'c, W: Write>(
    capture: &mut Capture,
    out: W,
    mut comment: impl FnMut(u64) -> Option<&'c str>,
) -> Result<u64, AnnotateError> {
    let mut writer = PcapNgWriter::new(io::BufWriter::with_capacity(BUFFER, out))?;
    let mut interfaces = Vec::new();
    let mut block = Block::default();
    let mut copied = 0;
    let end = loop {
        let more = capture.read_block(&mut block);
        copy_interfaces(capture, &mut writer, &mut interfaces);
        for (interface, frame) in block.frames_on() {
            if let Some(id) = interfaces.get(usize::from(interface)) {
                writer.write(*id, &frame, comment(frame.number))?;
                copied += 1;
            }
        }
        match more {
            Ok(true) => {}
            Ok(false) => break Ok(copied),
            Err(e) => break Err(e),
        }
    };
    writer.into_inner().flush()?;
    end.map_err(|e: CaptureError| e.into())
}

/// Copies the interfaces that were found since the last block.
fn copy_interfaces<W: Write>(
    capture: &Capture,
    writer: &mut PcapNgWriter<W>,
    known: &mut Vec<InterfaceId>,
) {
    let all = &capture.info().interfaces;
    for interface in all.get(known.len()..).unwrap_or_default() {
        known.push(writer.add_interface(interface.clone()));
    }
}
