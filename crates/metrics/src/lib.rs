//! Packet reordering metrics: RFC 4737, RFC 5236, mean displacement and entropy.
