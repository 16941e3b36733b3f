//! Writing Parquet files column by column.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

/// A writer for these columns. Nothing in the file depends on when or where it was written.
pub(crate) fn writer<W: Write + Send>(sink: W, schema: &str) -> Result<SerializedFileWriter<W>> {
    writer_of(sink, parse_message_type(schema)?)
}

/// The same for columns whose names are not known beforehand.
pub(crate) fn writer_of<W: Write + Send>(sink: W, schema: Type) -> Result<SerializedFileWriter<W>> {
    let schema = Arc::new(schema);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("layercast".to_owned())
        .build();
    SerializedFileWriter::new(sink, schema, Arc::new(properties))
}

/// Writes a column of text.
pub(crate) fn text<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[&str],
) -> Result<()> {
    let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(*value)).collect();
    required::<ByteArrayType, _>(group, &values)
}

/// Writes a column that has a value in each row.
pub(crate) fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<()> {
    put::<T, W>(group, values, None)
}

/// Writes a column that may lack values.
pub(crate) fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<T::T>],
) -> Result<()> {
    let defined: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.iter().flatten().cloned().collect();
    put::<T, W>(group, &values, Some(&defined))
}

fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    defined: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than are written".to_owned()));
    };
    column.typed::<T>().write_batch(values, defined, None)?;
    column.close()
}
