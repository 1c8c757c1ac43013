//! A stream of numbered packets that is out of order: what a sorting receiver would have left, in text and in rows.

use inorder_analysis::Rows;
use inorder_analysis::table::{self, Style};
use inorder_streams::Streams;
use inorder_wire::{Endpoint, Numbered, Service, StreamKey};

use crate::sample;

#[test]
fn the_text_and_the_rows_have_none_srpic_and_the_resequencer() {
    let key = StreamKey {
        service: Service::WireGuard,
        src: Endpoint::v4(1, 1000),
        dst: Endpoint::v4(2, 51820),
        id: 7,
        overlay: 0,
    };
    let mut streams = Streams::new();
    for (at, seq) in [0, 1, 2, 3, 5, 6, 4, 7, 8, 9].into_iter().enumerate() {
        streams.push(
            &key,
            &Numbered {
                ts_ns: at as i64 * 1_000_000,
                frame: at as u64,
                seq,
                payload_len: 100,
                ..Numbered::default()
            },
        );
    }
    let mut analysis = sample::analysis("tunnel.pcap", 0);
    analysis.streams = streams.finish();
    let analyses = [analysis];
    let mut text = Vec::new();
    table::write(&mut text, &analyses, &Style::default()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let names = ["none", "8 packets", "resequence:window=512,tunnel=true"];
    for name in names {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
    let rows = Rows::named("stream-what-if").unwrap();
    let mut csv = Vec::new();
    rows.write_csv(&mut csv, &analyses).unwrap();
    // Nine settings of SRPIC, no sorter, the resequencer, and the names of the columns.
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 12);
}
