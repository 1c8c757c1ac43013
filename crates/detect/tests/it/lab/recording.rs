//! Recordings in a folder, and what the inference says of their captures.

use std::io;
use std::path::{Path, PathBuf};

use inorder_capture::{Block, Capture};
use inorder_detect::{Config, FlowReport, Tracker};
use inorder_wire::{Frame, LinkType, Packet, parse};

const TRUTHS: [&str; 2] = [".truth.json", ".truth.json.gz"];
const CAPTURES: [&str; 4] = [".pcap", ".pcap.gz", ".pcapng", ".pcapng.gz"];

/// How frames are kept that were captured otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Bytes of each frame (the snap length).
    pub snap: usize,
    /// A VLAN tag (IEEE 802.1Q) was there, too.
    pub tagged: bool,
}

impl Kept {
    /// As they were captured.
    pub(crate) const ALL: Kept = Kept {
        snap: usize::MAX,
        tagged: false,
    };

    /// Of `frame` what is kept; `space` is where a frame with a tag is put together.
    pub(crate) fn of<'a>(self, frame: &Frame<'a>, space: &'a mut Vec<u8>) -> Frame<'a> {
        let mut kept = *frame;
        if self.tagged && frame.link == LinkType::ETHERNET && frame.data.len() >= 12 {
            let (addresses, rest) = frame.data.split_at(12);
            space.clear();
            space.extend([addresses, &[0x81, 0x00, 0x00, 0x64], rest].concat());
            kept.data = space;
            kept.orig_len += 4;
        }
        kept.data = &kept.data[..kept.data.len().min(self.snap)];
        kept
    }
}

/// Two captures and their truth.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub name: String,
    pub sender: PathBuf,
    /// None of a single capture with defects, wherever it was made.
    pub receiver: Option<PathBuf>,
    pub truth: PathBuf,
    pub kept: Kept,
}

impl Recording {
    /// The captures; of each whether it is the one called `snd`.
    pub(crate) fn captures(&self) -> impl Iterator<Item = (&Path, bool)> {
        let receiver = self.receiver.as_deref().map(|path| (path, false));
        std::iter::once((self.sender.as_path(), true)).chain(receiver)
    }

    /// The kind of path: the name without the numbers at its end that tell recordings of one kind
    /// apart (`queue-10-2` is the second recording of the kind `queue-10`).
    pub(crate) fn kind(&self) -> &str {
        let simulated = self.name.starts_with("simulated-");
        let mut kind = self.name.as_str();
        if self.receiver.is_none()
            && let Some((_, capture)) = kind.rsplit_once('.')
        {
            return capture;
        }
        for _ in 0..if simulated { 2 } else { 1 } {
            kind = kind.rsplit_once('-').map_or(kind, |(head, _)| head);
        }
        kind
    }

    /// The stacks of a recording of two (`validation/stacks`): `lwip-options-to-kernel-late` counts for `lwip sends`.
    /// The kernel counts where it is both ends: else the other end has the habits that matter.
    pub(crate) fn stacks(&self) -> Vec<String> {
        let Some((sender, rest)) = self.name.split_once("-to-") else {
            return Vec::new();
        };
        let stack = |end: &str| end.split('-').next().unwrap_or_default().to_owned();
        match (stack(sender), stack(rest)) {
            (a, b) if a == "kernel" && b == "kernel" => vec![a],
            (a, b) => [(a, "sends"), (b, "receives")]
                .into_iter()
                .filter(|(stack, _)| stack != "kernel")
                .map(|(stack, does)| format!("{stack} {does}"))
                .collect(),
        }
    }
}

/// The recordings of a folder, by name.
pub(crate) fn recordings(folder: &Path) -> io::Result<Vec<Recording>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().and_then(|f| f.to_str());
        let Some(name) = file.and_then(|f| TRUTHS.iter().find_map(|end| f.strip_suffix(end)))
        else {
            continue;
        };
        let capture = |side: &str| {
            let mut files = CAPTURES
                .iter()
                .map(|end| folder.join(format!("{name}{side}{end}")));
            files.find(|path| path.exists())
        };
        let single = capture("");
        let missing = || io::Error::other(format!("{name}: a capture is missing"));
        found.push(Recording {
            name: name.to_owned(),
            receiver: match single {
                Some(_) => None,
                None => Some(capture(".rcv").ok_or_else(missing)?),
            },
            sender: single.or_else(|| capture(".snd")).ok_or_else(missing)?,
            truth: path.clone(),
            kept: Kept::ALL,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// What the inference says of a capture, of whose frames only `kept` is kept.
pub(crate) fn analyse(path: &Path, config: &Config, kept: Kept) -> io::Result<Vec<FlowReport>> {
    let flows = read(path, config, kept)?;
    match config.taught_by(&flows) {
        Some(config) => read(path, &config, kept),
        None => Ok(flows),
    }
}

fn read(path: &Path, config: &Config, kept: Kept) -> io::Result<Vec<FlowReport>> {
    let in_file = |e| io::Error::other(format!("{}: {e}", path.display()));
    let mut capture = Capture::open(path).map_err(|e| in_file(e.to_string()))?;
    let mut tracker = Tracker::new(config.clone().keep_events(true).what_if(false));
    let (mut block, mut space) = (Block::default(), Vec::new());
    while capture
        .read_block(&mut block)
        .map_err(|e| in_file(e.to_string()))?
    {
        for frame in block.frames() {
            if let Packet::Tcp(key, dir, segment) = &parse(&kept.of(&frame, &mut space)) {
                tracker.push(key, *dir, segment);
            }
        }
    }
    Ok(tracker.finish())
}
