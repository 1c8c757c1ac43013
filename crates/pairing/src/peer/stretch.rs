//! Transmissions cut into originals and retransmissions, by the order of sending.

use inorder_wire::Has;

use super::matching::frame_of;
use super::ranges::Ranges;
use super::recorder::DataFrame;
use super::split::Piece;
use inorder_detect::IdCounter;

/// Part of a transmission: all of it captured for the first time, or all of it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Index of the sent piece.
    pub(crate) sent: u32,
    /// No earlier frame of the sender's capture holds its bytes.
    pub(crate) first: bool,
    /// It was sent again all the same: its timestamp or identification says that data above it went
    /// first. The original vanished before the capture point, or was not captured.
    pub(crate) repeats_unseen: bool,
}

impl Stretch {
    pub(crate) fn is_original(&self) -> bool {
        self.first && !self.repeats_unseen
    }
}

/// Cuts transmissions into originals and retransmissions, in the order of the capture.
///
/// What lies below the highest byte captured and was never seen is an original if it was sent
/// before the data above it, which reached the capture point sooner, and a retransmission if not.
pub(crate) fn stretches(sent: &[Piece], frames: &[DataFrame]) -> Vec<Stretch> {
    let marks = Marks::of(frames);
    let mut seen = Ranges::default();
    let mut top: Option<Piece> = None;
    let mut all = Vec::with_capacity(sent.len());
    for (i, piece) in sent.iter().enumerate() {
        let above = top.filter(|top| top.start > piece.start);
        let again = above.is_some_and(|above| marks.later(frames, piece, &above));
        seen.cut(piece.start, piece.end(), |start, end, known| {
            all.push(Stretch {
                start,
                end,
                sent: i as u32,
                first: !known,
                repeats_unseen: !known && again,
            });
        });
        seen.add(piece.start, piece.end());
        if above.is_none() {
            top = Some(*piece);
        }
    }
    all
}

/// What tells which of two packets of the sender left first.
struct Marks {
    /// Its IPv4 identifications, if they count.
    ids: Option<IdCounter>,
}

impl Marks {
    fn of(frames: &[DataFrame]) -> Marks {
        let mut counter = IdCounter::default();
        for frame in frames.iter().filter(|f| f.has & Has::IP_ID != 0) {
            counter.observe_number(frame.ip_id);
        }
        Marks {
            ids: Some(counter).filter(IdCounter::trusted),
        }
    }

    /// `piece` left after `other`; false when nothing tells.
    fn later(&self, frames: &[DataFrame], piece: &Piece, other: &Piece) -> bool {
        let (a, b) = (frame_of(frames, piece), frame_of(frames, other));
        let both = a.has & b.has;
        let ticks = a.tsval.wrapping_sub(b.tsval) as i32;
        if both & Has::TIMESTAMPS != 0 && ticks != 0 {
            return ticks > 0;
        }
        self.ids
            .filter(|_| both & Has::IP_ID != 0)
            .is_some_and(|ids| {
                let ahead = ids
                    .number(piece.ip_id)
                    .wrapping_sub(ids.number(other.ip_id));
                (ahead as i16) > 0
            })
    }
}
