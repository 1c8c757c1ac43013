//! Parquet for data frames, Snappy-compressed.
//!
//! The columns are those of [`arrow`](crate::arrow).

use std::borrow::Borrow;
use std::io::{self, Write};

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::arrow::{Batches, Texts};
use crate::column::AnyColumn;

/// Number of rows that are passed to the writer at a time.
const BATCH: usize = 1 << 16;

/// Writes one file with the columns of CSV; one without rows still has columns.
///
/// # Errors
/// If `out` cannot be written, or a column has a value that is not of its kind, or none although
/// it is not optional.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: impl Write + Send,
    columns: &[M],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
) -> io::Result<()> {
    let batches = Batches::new(columns, rows, Texts::Plain, BATCH);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("inorder ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer =
        ArrowWriter::try_new(out, batches.schema(), Some(properties)).map_err(plain)?;
    for batch in batches {
        writer.write(&batch?).map_err(plain)?;
    }
    writer.close().map_err(plain)?;
    Ok(())
}

/// The system's error as it is: the library would add to it that it comes from outside.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(outside) => match outside.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(outside) => io::Error::other(outside),
        },
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatch;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, TimestampNanosecondType, UInt32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::{Column, Kind};

    struct Row {
        at_ns: i64,
        late_ns: Option<i64>,
        frame: Option<u64>,
    }

    static ROW: &[Column<Row>] = &[
        Column::new("at_ns", Kind::Instant, "When.", |r| r.at_ns.into()),
        Column::new("late_ms", Kind::Duration, "How late.", |r: &Row| {
            r.late_ns.into()
        })
        .optional(),
        Column::new("frame", Kind::Small, "Which.", |r| r.frame.into()),
    ];

    fn row(frame: Option<u64>) -> Row {
        Row {
            at_ns: 5,
            late_ns: frame.map(|_| 2_500_000),
            frame,
        }
    }

    fn read(file: Vec<u8>) -> Vec<RecordBatch> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file));
        let reader = builder.unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    }

    #[test]
    fn rows_read_back() {
        let mut out = Vec::new();
        let rows = (0..BATCH as u64 + 1).map(|n| row(Some(n)));
        write(&mut out, ROW, rows).unwrap();
        let batches = read(out);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows, BATCH + 1);
        let last = batches.last().unwrap();
        let at = last.column_by_name("at").unwrap();
        assert_eq!(at.as_primitive::<TimestampNanosecondType>().value(0), 5);
        let late = last.column_by_name("late_ms").unwrap();
        assert_eq!(late.as_primitive::<Float64Type>().value(0), 2.5);
        let frame = last.column_by_name("frame").unwrap();
        let frame = frame.as_primitive::<UInt32Type>();
        assert_eq!(frame.value(last.num_rows() - 1), BATCH as u32);
    }

    #[test]
    fn a_file_without_rows_has_columns() {
        let mut out = Vec::new();
        write(&mut out, ROW, [] as [Row; 0]).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(builder.schema().fields().len(), 3);
    }

    #[test]
    fn a_full_disk_is_said_in_the_words_of_the_system() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write(Full, ROW, [row(Some(1))]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(error.to_string(), "no storage space");
    }

    #[test]
    fn a_missing_value_in_a_column_that_is_not_optional_is_an_error() {
        let error = write(Vec::new(), ROW, [row(None)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column frame: expected Small, found Absent"
        );
    }
}
