/work/main/validation/stacks/path/target/debug/deps/inorder_capture-61a466017f34d9fc.d: /work/main/crates/capture/src/lib.rs /work/main/crates/capture/src/block.rs /work/main/crates/capture/src/check.rs /work/main/crates/capture/src/error.rs /work/main/crates/capture/src/info.rs /work/main/crates/capture/src/pcap.rs /work/main/crates/capture/src/pcapng.rs /work/main/crates/capture/src/pushed.rs /work/main/crates/capture/src/reader.rs /work/main/crates/capture/src/source.rs /work/main/crates/capture/src/time.rs /work/main/crates/capture/src/write/mod.rs /work/main/crates/capture/src/write/annotate.rs /work/main/crates/capture/src/write/pcap.rs /work/main/crates/capture/src/write/pcapng.rs

/work/main/validation/stacks/path/target/debug/deps/libinorder_capture-61a466017f34d9fc.rmeta: /work/main/crates/capture/src/lib.rs /work/main/crates/capture/src/block.rs /work/main/crates/capture/src/check.rs /work/main/crates/capture/src/error.rs /work/main/crates/capture/src/info.rs /work/main/crates/capture/src/pcap.rs /work/main/crates/capture/src/pcapng.rs /work/main/crates/capture/src/pushed.rs /work/main/crates/capture/src/reader.rs /work/main/crates/capture/src/source.rs /work/main/crates/capture/src/time.rs /work/main/crates/capture/src/write/mod.rs /work/main/crates/capture/src/write/annotate.rs /work/main/crates/capture/src/write/pcap.rs /work/main/crates/capture/src/write/pcapng.rs

/work/main/crates/capture/src/lib.rs:
/work/main/crates/capture/src/block.rs:
/work/main/crates/capture/src/check.rs:
/work/main/crates/capture/src/error.rs:
/work/main/crates/capture/src/info.rs:
/work/main/crates/capture/src/pcap.rs:
/work/main/crates/capture/src/pcapng.rs:
/work/main/crates/capture/src/pushed.rs:
/work/main/crates/capture/src/reader.rs:
/work/main/crates/capture/src/source.rs:
/work/main/crates/capture/src/time.rs:
/work/main/crates/capture/src/write/mod.rs:
/work/main/crates/capture/src/write/annotate.rs:
/work/main/crates/capture/src/write/pcap.rs:
/work/main/crates/capture/src/write/pcapng.rs:
