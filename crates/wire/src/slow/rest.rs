//! The rest of a frame from some header on.

use crate::{Frame, Other};

/// What was captured of the rest of a frame, and how long that rest was on the wire.
///
/// `data` may be shorter than `wire` (snap length), never longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) wire: usize,
}

impl<'a> Rest<'a> {
    /// The whole frame. Some tools write an original length below the captured one; the
    /// captured bytes were on the wire for certain.
    pub(crate) fn of_frame(frame: &Frame<'a>) -> Self {
        Rest {
            data: frame.data,
            wire: frame.data.len().max(frame.orig_len as usize),
        }
    }

    /// Why `len` bytes are not there: cut by the snap length, or never sent.
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

    /// What follows a header of `len` bytes.
    pub(crate) fn skip(self, len: usize) -> Result<Rest<'a>, Other> {
        match self.data.get(len..) {
            Some(data) => Ok(Rest {
                data,
                wire: self.wire - len,
            }),
            None => Err(self.shortage(len)),
        }
    }

    /// The rest as long as an inner length field says. A field that says more than the frame
    /// has is believed: tools that cut frames often rewrite the outer lengths, never the inner.
    pub(crate) fn with_wire_len(self, wire: usize) -> Rest<'a> {
        Rest {
            data: self.data.get(..wire).unwrap_or(self.data),
            wire,
        }
    }
}

/// The 16 bits at `at`, or the reason why they are not there.
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
