//! `series.parquet`: reads back, and the same data give the same bytes.

use layercast_laboratory::results::series::SeriesWriter;
use layercast_laboratory::results::{Experiment, Replication};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::made_up;

fn bytes(experiment: &Experiment, replications: &[Replication]) -> Vec<u8> {
    let mut writer = SeriesWriter::new(Vec::new(), experiment).unwrap();
    for replication in replications {
        writer.write(replication).unwrap();
    }
    writer.finish().unwrap()
}

fn rows(bytes: Vec<u8>) -> Vec<Row> {
    let reader = SerializedFileReader::new(parquet_bytes(bytes)).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn parquet_bytes(bytes: Vec<u8>) -> bytes::Bytes {
    bytes.into()
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

#[test]
fn every_bin_of_every_flow_reads_back() {
    let experiment = made_up::experiment(false);
    let replications = made_up::replications(&experiment, 2);
    let rows = rows(bytes(&experiment, &replications));
    assert_eq!(rows.len(), 2 * experiment.flows.len() * 300);
    let mut row = rows.iter();
    for replication in &replications {
        for (info, series) in experiment.flows.iter().zip(&replication.series.flows) {
            for bin in 0..300 {
                let row = row.next().unwrap();
                assert_eq!(field(row, "flow"), &Field::Str(info.name.clone()));
                assert_eq!(field(row, "seed"), &Field::ULong(1));
                assert_eq!(field(row, "replication"), &Field::UInt(replication.number));
                assert_eq!(field(row, "time_s"), &Field::Double((bin + 1) as f64));
                let known = |value: Option<&f64>| match value.copied().filter(|value| value.is_finite()) {
                    Some(value) => Field::Double(value),
                    None => Field::Null,
                };
                assert_eq!(field(row, "throughput_kbps"), &known(series.throughput_kbps.get(bin)));
                assert_eq!(field(row, "rate_kbps"), &known(series.rate_kbps.get(bin)));
                assert_eq!(field(row, "cwnd_packets"), &known(series.cwnd_packets.get(bin)));
                let level = series.level.get(bin).copied().flatten().map_or(Field::Null, Field::Int);
                assert_eq!(field(row, "level"), &level);
            }
        }
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let experiment = made_up::experiment(true);
    let replications = made_up::replications(&experiment, 2);
    assert_eq!(bytes(&experiment, &replications), bytes(&experiment, &replications));
}

#[test]
fn the_last_bin_may_be_short_and_seeds_may_be_large() {
    let mut experiment = made_up::experiment(false);
    experiment.duration_s = 299.5;
    experiment.seed = u64::MAX;
    let rows = rows(bytes(&experiment, &made_up::replications(&experiment, 1)));
    assert_eq!(field(&rows[299], "time_s"), &Field::Double(299.5));
    assert_eq!(field(&rows[0], "seed"), &Field::ULong(u64::MAX));
}

#[test]
fn columns_of_different_lengths_are_refused() {
    let experiment = made_up::experiment(false);
    let mut replication = made_up::replications(&experiment, 1).remove(0);
    replication.series.flows[0].rtt_ms.pop();
    let mut writer = SeriesWriter::new(Vec::new(), &experiment).unwrap();
    let error = writer.write(&replication).unwrap_err().to_string();
    assert!(error.contains("values of rtt_ms of elm@R1"), "{error}");
}
