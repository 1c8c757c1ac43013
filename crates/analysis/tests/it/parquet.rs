//! Parquet files are read back with the values that were written.
#![cfg(feature = "parquet")]

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use inorder_analysis::{Analysis, Rows};
use parquet_crate::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use ::parquet as parquet_crate;

use crate::sample;

fn read(file: Vec<u8>) -> Vec<RecordBatch> {
    let bytes = bytes::Bytes::from(file);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .unwrap()
        .build()
        .unwrap();
    reader.map(Result::unwrap).collect()
}

#[test]
fn flows_read_back() {
    let analyses = [sample::analysis("a.pcap", 3)];
    let mut out = Vec::new();
    Rows::named("flows")
        .unwrap()
        .write_parquet(&mut out, &analyses)
        .unwrap();
    let batches = read(out);
    let batch = &batches[0];
    assert_eq!(batch.num_rows(), 5);
    let packets = batch
        .column_by_name("data_packets")
        .unwrap()
        .as_primitive::<UInt64Type>();
    let first = batch
        .column_by_name("first")
        .unwrap()
        .as_primitive::<TimestampNanosecondType>();
    for (i, flow) in analyses[0].flows.iter().enumerate() {
        assert_eq!(packets.value(i), flow.originals.packets);
        assert_eq!(first.value(i), flow.first_ns);
    }
}

#[test]
fn events_read_back_with_nulls() {
    let analyses = [sample::analysis("a.pcap", 1)];
    let mut out = Vec::new();
    Rows::named("events")
        .unwrap()
        .write_parquet(&mut out, &analyses)
        .unwrap();
    let events: Vec<_> = analyses[0]
        .flows
        .iter()
        .flat_map(|f| &f.records.events)
        .collect();
    let batches = read(out);
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, events.len());
    let extent = batches[0]
        .column_by_name("extent")
        .unwrap()
        .as_primitive::<UInt32Type>();
    let kind = batches[0]
        .column_by_name("kind")
        .unwrap()
        .as_string::<i32>();
    for (i, event) in events.iter().enumerate() {
        assert_eq!(extent.is_valid(i).then(|| extent.value(i)), event.extent);
        assert_eq!(kind.value(i) == "lost", event.extent.is_none());
    }
}

#[test]
fn an_empty_analysis_gives_valid_files() {
    let mut out = Vec::new();
    Rows::named("events")
        .unwrap()
        .write_parquet(&mut out, &[Analysis::default()])
        .unwrap();
    assert_eq!(
        read(out).iter().map(RecordBatch::num_rows).sum::<usize>(),
        0
    );
}
