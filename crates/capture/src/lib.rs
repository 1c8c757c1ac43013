//! Streaming reader and writer for pcap and pcapng files.
