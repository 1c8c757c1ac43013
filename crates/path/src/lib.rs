//! What a network does to packets, one impairment a file, in simulated and in real time.
