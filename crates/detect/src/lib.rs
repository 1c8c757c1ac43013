//! What a capture says about reordering, loss and needless retransmission.
