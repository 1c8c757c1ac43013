//! The rest of a frame, starting at some header.

use crate::{Frame, Other};

/// The captured bytes of the rest of a frame, and its length on the wire.
///
/// `data` may be shorter than `wire` (snap length), never longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) wire: usize,
}

impl<'a> Rest<'a> {
    /// The whole frame. Some tools write an original length below the captured one; the captured bytes were certainly
    /// on the wire, so the larger number is used.
    pub(crate) fn of_frame(frame: &Frame<'a>) -> Self {
        Rest {
            data: frame.data,
            wire: frame.data.len().max(frame.orig_len as usize),
        }
    }

    /// Why `len` bytes are missing: cut by the snap length, or never sent.
    pub(crate) fn shortage(self, len: usize) -> Other {
        if self.wire >= len {
            Other::Truncated
        } else {
            Other::Malformed
        }
    }

    /// The first `N` bytes.
    pub(crate) fn head<const N: usize>(self) -> Result<&'a [u8; N], Other> {
        self.data.first_chunk().ok_or_else(|| self.shortage(N))
    }

    /// The bytes behind a header of `len` bytes.
    pub(crate) fn skip(self, len: usize) -> Result<Rest<'a>, Other> {
        match self.data.get(len..) {
            Some(data) => Ok(Rest {
                data,
                wire: self.wire - len,
            }),
            None => Err(self.shortage(len)),
        }
    }

    /// The rest, limited to the length in an inner header. A length that exceeds the frame is accepted: tools that
    /// cut frames often rewrite the outer lengths, but not the inner ones.
    pub(crate) fn with_wire_len(self, wire: usize) -> Rest<'a> {
        Rest {
            data: self.data.get(..wire).unwrap_or(self.data),
            wire,
        }
    }
}

/// The 16 bits at `at`, or the reason why they are missing.
pub(crate) fn field16(rest: Rest<'_>, at: usize) -> Result<u16, Other> {
    be16(rest.data, at).ok_or_else(|| rest.shortage(at + 2))
}

/// The big-endian 16-bit number at `at`.
#[inline]
pub(crate) fn be16(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

/// The big-endian 32-bit number at `at`.
#[inline]
pub(crate) fn be32(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}
