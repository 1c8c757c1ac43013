//! Sorting Reordered Packets with Interrupt Coalescing (SRPIC).
