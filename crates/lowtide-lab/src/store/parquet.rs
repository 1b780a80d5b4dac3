//! Rows as Parquet: a column for each label and for each value that was measured.
//!
//! Text columns are labels but for those of [`LABELS`](crate::metrics::LABELS), columns of numbers are values, and what a row has
//! not is null. The scenario is the partition, and not a column of the file. Columns of values are named as in all other
//! tables (`rtt_ms_p95`); the file says which value each of them is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::row::{Found, Labels, Name, Row};
use super::table::{Table, TableRow};
use crate::key::Key;
use crate::metrics::{Named, column_name};

/// What the names of the files end in.
pub(super) const ENDING: &str = "parquet";

/// Rows of a group: what a reader that wants some rows reads at a time.
const GROUP: usize = 1 << 16;

/// Under this the file itself says which scenario it is of.
const SCENARIO: &str = "lowtide.scenario";

/// Under this it has the names of the values, from the names of their columns, as JSON.
const NAMES: &str = "lowtide.values";

/// The columns of files, the same in all files of a store: readers take the first one's for all.
#[derive(Debug)]
pub(super) struct Columns {
    labels: Vec<String>,
    values: Vec<String>,
    /// The values' names by their columns'.
    names: BTreeMap<String, String>,
    schema: Arc<Type>,
}

impl Columns {
    /// Columns of a table.
    pub(super) fn of(table: &Table) -> io::Result<Self> {
        let (labels, values) = (table.labels(), table.measured());
        let text = |name: &str, repetition| {
            column(
                name,
                Physical::BYTE_ARRAY,
                repetition,
                Some(LogicalType::String),
            )
        };
        let seed = LogicalType::integer(64, false);
        let mut fields = vec![text("controller", Repetition::REQUIRED)?];
        for label in &labels {
            fields.push(text(label, Repetition::OPTIONAL)?);
        }
        fields.push(column(
            "seed",
            Physical::INT64,
            Repetition::REQUIRED,
            Some(seed),
        )?);
        let mut names = BTreeMap::new();
        for value in &values {
            // A measure of somebody's own may already have the name.
            let name =
                Some(column_name(value)).filter(|name| name == value || !values.contains(name));
            let name = name.unwrap_or_else(|| value.clone());
            fields.push(column(&name, Physical::DOUBLE, Repetition::OPTIONAL, None)?);
            names.insert(name, value.clone());
        }
        fields.push(text("key", Repetition::REQUIRED)?);
        fields.push(text("simulator", Repetition::REQUIRED)?);
        let schema = Type::group_type_builder("results").with_fields(fields);
        Ok(Self {
            labels,
            values,
            names,
            schema: Arc::new(schema.build()?),
        })
    }

    /// Writes rows of one scenario.
    pub(super) fn write(
        &self,
        out: &mut (impl Write + Send),
        table: &Table,
        rows: &[TableRow],
    ) -> io::Result<()> {
        let scenario = rows.first().map(|row| table.name(row).scenario.clone());
        let scenario = KeyValue::new(SCENARIO.to_string(), scenario);
        let names = KeyValue::new(NAMES.to_string(), serde_json::to_string(&self.names)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("lowtide {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![scenario, names]));
        let properties = Arc::new(properties.build());
        let mut file = SerializedFileWriter::new(out, self.schema.clone(), properties)?;
        for rows in rows.chunks(GROUP) {
            let mut group = file.next_row_group()?;
            self.write_group(&mut group, table, rows)?;
            group.close()?;
        }
        file.close()?;
        Ok(())
    }

    fn write_group(
        &self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
        table: &Table,
        rows: &[TableRow],
    ) -> io::Result<()> {
        let text = |get: &dyn Fn(&TableRow) -> String| -> Vec<ByteArray> {
            rows.iter().map(|r| get(r).into_bytes().into()).collect()
        };
        let controllers = text(&|row| table.name(row).controller.clone());
        put::<ByteArrayType>(group, &controllers, None)?;
        for label in &self.labels {
            let of = |row: &TableRow| table.name(row).labels.get(label).cloned();
            put_some::<ByteArrayType>(
                group,
                rows.iter().map(|r| of(r).map(|l| l.into_bytes().into())),
            )?;
        }
        let seeds: Vec<i64> = rows.iter().map(|row| row.seed.cast_signed()).collect();
        put::<Int64Type>(group, &seeds, None)?;
        for value in &self.values {
            let of = |row: &TableRow| {
                let n = table.shape(row).binary_search(value).ok()?;
                Some(table.values(row)[n])
            };
            put_some::<DoubleType>(group, rows.iter().map(of))?;
        }
        put::<ByteArrayType>(group, &text(&|row| row.key.to_string()), None)?;
        put::<ByteArrayType>(group, &text(&|row| row.simulator.to_string()), None)
    }
}

fn column(
    name: &str,
    physical: Physical,
    repetition: Repetition,
    logical: Option<LogicalType>,
) -> io::Result<Arc<Type>> {
    let column = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical);
    Ok(Arc::new(column.build()?))
}

/// Writes the next column; `levels` say which rows have a value.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> io::Result<()> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| io::Error::other("a column too many"))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()?;
    Ok(())
}

fn put_some<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> io::Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    put::<T>(group, &values, Some(&levels))
}

/// Gives each row of a file to `take`.
///
/// # Errors
/// When the file cannot be read; those of `take`.
pub(super) fn read<E: From<io::Error>>(
    path: &Path,
    take: &mut dyn FnMut(Found<'_>, Row) -> Result<(), E>,
) -> Result<(), E> {
    let wrong = |problem: String| {
        let problem = format!("{}: no file of results: {problem}", path.display());
        E::from(io::Error::other(problem))
    };
    let unreadable = |e: ParquetError| wrong(e.to_string());
    let file = SerializedFileReader::new(File::open(path)?).map_err(unreadable)?;
    let metadata = file.metadata().file_metadata();
    let about = |key: &str| {
        let mut all = metadata.key_value_metadata().into_iter().flatten();
        all.find(|about| about.key == key)?.value.clone()
    };
    let scenario =
        about(SCENARIO).ok_or_else(|| wrong("'lowtide merge' did not write it".to_string()))?;
    // Older files have none: their columns are named as the values are.
    let names = about(NAMES).map(|names| serde_json::from_str(&names));
    let names: BTreeMap<String, String> = names
        .transpose()
        .map_err(|e| wrong(format!("{NAMES}: {e}")))?
        .unwrap_or_default();
    let mut at = 0;
    for n in 0..file.num_row_groups() {
        let group = file.get_row_group(n).map_err(unreadable)?;
        let rows = read_group(&*group, &scenario, &names).map_err(unreadable)?;
        for row in rows {
            at += 1;
            let row = row.ok_or_else(|| wrong(format!("row {at} lacks its key")))?;
            take(Found { file: path, at }, row)?;
        }
    }
    Ok(())
}

/// A column's values, and where it may lack some the level of each row.
type Records<T> = (Vec<<T as DataType>::T>, Option<Vec<i16>>);

fn records<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    count: usize,
    optional: bool,
) -> Result<Records<T>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let wanted = optional.then_some(&mut levels);
    column.read_records(count, wanted, None, &mut values)?;
    Ok((values, optional.then_some(levels)))
}

/// The rows of a group; `None` for those that lack a key.
fn read_group(
    group: &dyn RowGroupReader,
    scenario: &str,
    names: &BTreeMap<String, String>,
) -> Result<Vec<Option<Row>>, ParquetError> {
    let count = group.metadata().num_rows().max(0) as usize;
    let empty = Partial {
        simulator: None,
        key: None,
        seed: None,
        name: Name {
            scenario: scenario.to_string(),
            controller: String::new(),
            labels: Labels::new(),
        },
        values: Named::new(),
    };
    let mut rows = vec![empty; count];
    for n in 0..group.num_columns() {
        let descriptor = group.metadata().column(n).column_descr_ptr();
        let name = descriptor.name();
        let optional = descriptor.max_def_level() > 0;
        match group.get_column_reader(n)? {
            ColumnReader::ByteArrayColumnReader(column) => {
                let (values, levels) = records(column, count, optional)?;
                each(&mut rows, values, levels, |row, value| {
                    if let Ok(text) = value.as_utf8() {
                        row.put_text(name, text);
                    }
                });
            }
            ColumnReader::DoubleColumnReader(column) => {
                let (values, levels) = records(column, count, optional)?;
                let name = names.get(name).map_or(name, String::as_str);
                each(&mut rows, values, levels, |row, value| {
                    row.values.insert(name.to_string(), value);
                });
            }
            ColumnReader::Int64ColumnReader(column) if name == "seed" => {
                let (values, levels) = records(column, count, false)?;
                each(&mut rows, values, levels, |row, value| {
                    row.seed = Some(value.cast_unsigned());
                });
            }
            // A column that somebody added is not ours.
            _ => {}
        }
    }
    Ok(rows.into_iter().map(Partial::whole).collect())
}

/// Puts the values of a column into the rows that have one.
fn each<T>(
    rows: &mut [Partial],
    values: Vec<T>,
    levels: Option<Vec<i16>>,
    put: impl Fn(&mut Partial, T),
) {
    let mut values = values.into_iter();
    for (n, row) in rows.iter_mut().enumerate() {
        let has = levels
            .as_ref()
            .is_none_or(|l| l.get(n).is_some_and(|l| *l > 0));
        if has && let Some(value) = values.next() {
            put(row, value);
        }
    }
}

/// A row whose columns are read one after the other.
#[derive(Clone)]
struct Partial {
    simulator: Option<Key>,
    key: Option<Key>,
    seed: Option<u64>,
    name: Name,
    values: Named,
}

impl Partial {
    fn put_text(&mut self, column: &str, text: &str) {
        match column {
            "controller" => self.name.controller = text.to_string(),
            "key" => self.key = text.parse().ok(),
            "simulator" => self.simulator = text.parse().ok(),
            label => {
                self.name.labels.insert(label.to_string(), text.to_string());
            }
        }
    }

    fn whole(self) -> Option<Row> {
        Some(Row {
            form: Row::FORM,
            simulator: self.simulator?,
            key: self.key?,
            seed: self.seed?,
            name: self.name,
            values: self.values,
        })
    }
}
