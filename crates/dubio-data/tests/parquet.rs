//! A table as Parquet is the same data set as the table as CSV (`fixtures/make_parquet.py`, by pandas).
#![cfg(feature = "parquet")]

use std::path::Path;

use dubio_data::sets::own::look::look;
use dubio_data::sets::own::{self, Own};
use dubio_data::sets::{self, Part};

fn fixture(rest: &str) -> String {
    format!("{}/tests/fixtures/homes.{rest}", env!("CARGO_MANIFEST_DIR"))
}

fn mistake(name: &str) -> String {
    sets::halves(name).map(|_| ()).expect_err("a mistake").to_string()
}

#[test]
fn parquet_and_csv_are_the_same_data_set() {
    for options in [
        "target=price,missing=median,group=agent,test=0.3",
        "target=6,missing=mean,folds=4,fold=1,by=agent",
        "target=city,missing=drop",
        "target=rooms,task=regression,ignore=year",
    ] {
        let (parquet, csv) = (format!("parquet:{options}"), format!("csv:{options}"));
        for part in [Part::Train, Part::Test] {
            let [a, b] = [&parquet, &csv].map(|name| {
                let halves = sets::halves(&fixture(name)).unwrap_or_else(|e| panic!("{e}"));
                halves.name.set.load(Path::new(""), part).unwrap_or_else(|e| panic!("{e}"))
            });
            assert_eq!(a, b, "{options}");
        }
        let [a, b] = [&parquet, &csv].map(|name| {
            let mut looked = look(&Own::parse(&fixture(name)).expect("a name")).expect("a look");
            looked.name.clear();
            looked.sha256.clear();
            looked
        });
        assert_eq!(a, b, "{options}");
    }
    let facts = own::facts(&fixture("parquet:target=price,missing=median")).expect("facts");
    let fact = |key: &str| &facts.iter().find(|(name, _)| *name == key).expect(key).1;
    assert_eq!(fact("one_hot"), "city: Bern, Oslo, São Paulo, SP; garden: false, true");
    assert_eq!(fact("missing"), "median: 2 values, 0 rows dropped");
}

#[test]
fn what_is_wrong_is_reported_by_row_and_column() {
    let missing = mistake(&fixture("parquet:target=price"));
    for part in ["2 mistakes", "homes.parquet:4:5: \"\": no value in column `year`", ":31:5: "] {
        assert!(missing.contains(part), "{missing}");
    }
    let unknown = mistake(&fixture("parquet:target=prise"));
    assert!(unknown.contains("did you mean `price`"), "{unknown}");
}
