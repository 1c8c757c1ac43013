//! Writes frames in one of two formats. The header is written with the first frame, because it depends on the link
//! type.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use inorder_capture::{Interface, InterfaceId, PcapNgWriter, PcapWriter};
use inorder_wire::{Frame, LinkType};

/// Snap length that `tcpdump` writes if no limit was requested, bytes.
const NO_LIMIT: u32 = 262_144;

/// The container format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// pcap.
    Pcap,
    /// pcapng.
    PcapNg,
}

impl Format {
    /// The format for a file name: pcapng if it ends in `.pcapng`, otherwise pcap.
    pub fn of(path: &Path) -> Self {
        match path.extension().is_some_and(|e| e == "pcapng") {
            true => Format::PcapNg,
            false => Format::Pcap,
        }
    }
}

/// A capture being written.
pub(crate) struct Output<W: Write> {
    state: State<W>,
    snaplen: u32,
}

enum State<W> {
    /// No frame has been written, so the link type is unknown.
    New(W, Format),
    Pcap(PcapWriter<W>),
    PcapNg(PcapNgWriter<W>, BTreeMap<LinkType, InterfaceId>),
    /// Writing has failed.
    Broken,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(out: W, format: Format, snaplen: u32) -> Self {
        let snaplen = if snaplen == 0 { NO_LIMIT } else { snaplen };
        Output {
            state: State::New(out, format),
            snaplen,
        }
    }

    /// Writes one frame. A pcap file holds frames of one link type only.
    pub(crate) fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        self.begin(frame.link)?;
        match &mut self.state {
            State::Pcap(writer) => writer.write(frame),
            State::PcapNg(writer, interfaces) => {
                let interface = *interfaces.entry(frame.link).or_insert_with(|| {
                    writer.add_interface(Interface {
                        link: frame.link,
                        snaplen: self.snaplen,
                        name: None,
                        description: None,
                    })
                });
                writer.write(interface, frame, None)
            }
            State::New(..) | State::Broken => Ok(()),
        }
    }

    /// Writes the header if no frame was written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.begin(LinkType::ETHERNET)
    }

    fn begin(&mut self, link: LinkType) -> io::Result<()> {
        if !matches!(self.state, State::New(..)) {
            return Ok(());
        }
        if let State::New(out, format) = std::mem::replace(&mut self.state, State::Broken) {
            self.state = match format {
                Format::Pcap => State::Pcap(PcapWriter::new(out, link, self.snaplen)?),
                Format::PcapNg => State::PcapNg(PcapNgWriter::new(out)?, BTreeMap::new()),
            };
        }
        Ok(())
    }
}
