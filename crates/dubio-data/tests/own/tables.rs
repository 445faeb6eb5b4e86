//! Tables of numbers and categories.

use std::fs;

use dubio_data::dataset::Answers;
use dubio_data::sets::Part;
use dubio_data::sets::own::look::look;
use dubio_data::sets::own::{self, Own};

use crate::support::{HOMES, features, floats, load, mistake, name, npy, png, written};

#[test]
fn numbers_stay_and_text_is_one_hot_in_the_order_of_its_categories() {
    let folder = written(&[("homes.csv", HOMES)]);
    let name = name(folder.path(), "homes.csv:target=price");
    let train = load(&name, Part::Train);
    // Bern, Oslo, rooms.
    assert_eq!(features(&train), (3, &[0.0, 1.0, 3.0, 1.0, 0.0, 2.0][..]));
    assert_eq!(train.answers, Answers::Targets(vec![10.5, 8.25]));
    assert_eq!(load(&name, Part::Test).answers, Answers::Targets(vec![4.5]));
    let facts = own::facts(&name).expect("facts");
    let fact = |key: &str| facts.iter().find(|(name, _)| *name == key).expect(key).1.clone();
    assert_eq!(fact("one_hot"), "city: Bern, Oslo");
    assert_eq!(fact("split"), "by the column `split`");
    assert_eq!(fact("features"), "city=Bern, city=Oslo, rooms");
}

#[test]
fn a_column_is_named_or_numbered_and_a_header_is_optional() {
    let folder = written(&[("plain.csv", "1,0.5,7\n2,0.25,8\n3,0.75,9\n4,1.5,10\n5,2.5,11\n")]);
    let data = load(&name(folder.path(), "plain.csv:target=1,test=0.2"), Part::All);
    assert_eq!(features(&data).0, 2);
    assert_eq!(data.answers, Answers::Targets(vec![0.5, 0.25, 0.75, 1.5, 2.5]));
    let wrong = mistake(&name(folder.path(), "plain.csv:target=price"));
    assert!(wrong.contains("no column is called `price`"), "{wrong}");
}

#[test]
fn the_target_decides_the_task_unless_it_is_said() {
    let rows: String =
        (0..40).map(|i| format!("{i},{},{}\n", i % 3, ["no", "yes"][i % 2])).collect();
    let folder = written(&[("t.csv", &format!("x,n,word\n{rows}"))]);
    let kind =
        |options: &str| load(&name(folder.path(), &format!("t.csv:{options}")), Part::All).answers;
    assert!(matches!(kind("target=word,ignore=n"), Answers::Classes { classes: 2, .. }));
    assert!(matches!(kind("target=n,ignore=word"), Answers::Classes { classes: 3, .. }));
    assert!(matches!(kind("target=n,ignore=word,task=regression"), Answers::Targets(_)));
    assert!(matches!(kind("target=x,ignore=word"), Answers::Targets(_)));
}

#[test]
fn the_last_column_that_is_for_nothing_else_is_the_target() {
    let folder = written(&[("homes.csv", HOMES)]);
    let target = |options: &str| {
        let own = Own::parse(&name(folder.path(), &format!("homes.csv{options}"))).expect("a name");
        look(&own).expect("a look").seen.target
    };
    assert_eq!(target(""), "price", "and not the split, which is the last");
    assert_eq!(target(":ignore=price"), "rooms");
    assert_eq!(target(":group=price"), "rooms");
}

#[test]
fn an_option_that_means_nothing_for_such_data_is_refused() {
    let folder = written(&[("homes.csv", HOMES)]);
    let root = folder.path();
    npy(&root.join("x.npy"), "<f8", &[1, 1], &floats(&[0.5]));
    for class in ["cat", "dog"] {
        png(&root.join(format!("images/{class}/0.png")), 4, 1);
    }
    let wrong = mistake(&name(root, "homes.csv:size=8,target=price"));
    assert!(wrong.contains("`size` means nothing for a table"), "{wrong}");
    let wrong = mistake(&name(root, "images:group=site,target=label"));
    assert!(wrong.contains("`group` means nothing for images"), "{wrong}");
    assert!(wrong.contains("`target` of images can only be `none`"), "{wrong}");
    let wrong = mistake(&name(root, ":channels=grey,ignore=a,target=price"));
    assert!(wrong.contains("`channels` means nothing for arrays"), "{wrong}");
    assert!(wrong.contains("`ignore` means") && wrong.contains("`target` of arrays"), "{wrong}");
}

#[test]
fn cells_are_separated_as_the_first_line_says() {
    let text = "\"a, wide\",b,price\n1,2.5,7.5\n4,5,8.5\n";
    let marks =
        [("csv", ';'), ("csv", '\t'), ("csv", '|'), ("tsv", ';'), ("tsv", '\t'), ("tsv", ',')];
    for (ending, mark) in marks {
        let file = format!("homes.{ending}");
        let text = text.replace(',', &mark.to_string()).replace(&format!("a{mark} "), "a, ");
        let folder = written(&[(&file, &text)]);
        let data = load(&name(folder.path(), &format!("{file}:target=price,test=0.5")), Part::All);
        assert_eq!(features(&data).1, &[1.0, 2.5, 4.0, 5.0], "{mark:?} in {file}");
    }
}

#[test]
fn numbers_with_commas_are_neither_read_nor_taken_for_categories() {
    let mut text = "size;price\n".to_string();
    (0..30).for_each(|i| text += &format!("{}{};{i}.5\n", i % 3, if i < 9 { ",5" } else { "" }));
    let folder = written(&[("homes.csv", &text)]);
    let wrong = mistake(&name(folder.path(), "homes.csv"));
    let expected = "homes.csv:2:1: \"0,5\" in column `size` has a comma; 8 more like it";
    assert!(wrong.contains("1 mistake\n") && wrong.contains(expected), "{wrong}");
    assert!(wrong.contains("write a decimal point, and no thousands separators"), "{wrong}");
    let data = load(&name(folder.path(), "homes.csv:categories=size"), Part::All);
    assert_eq!(features(&data).0, 6, "three sizes with a comma and three without");
}

#[test]
fn a_table_that_is_not_utf8_and_a_file_of_another_kind_are_told_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |file: &str, bytes: &[u8]| fs::write(folder.path().join(file), bytes).expect("written");
    write("latin.csv", b"a,b\n1,2\n\n\xe9,4\n");
    let wrong = mistake(&name(folder.path(), "latin.csv"));
    assert!(wrong.contains("line 4 is not UTF-8 text") && wrong.contains("iconv"), "{wrong}");
    write("wide.csv", b"\xff\xfea\0,\0b\0\n\0");
    let wrong = mistake(&name(folder.path(), "wide.csv"));
    assert!(wrong.contains("line 1 is not UTF-8 text"), "{wrong}");
    write("homes.txt", b"a,b\n1,2\n");
    let wrong = mistake(&name(folder.path(), "homes.txt"));
    assert!(wrong.contains("the name does not say which format this is"), "{wrong}");
    write("homes.xlsx", b"PK");
    let wrong = mistake(&name(folder.path(), "homes.xlsx"));
    assert!(
        wrong.contains("dubio does not read spreadsheets") && wrong.contains("read_excel"),
        "{wrong}"
    );
}

#[test]
fn every_bad_cell_is_reported_with_line_and_column() {
    let mut text = "a,b,y\n".to_string();
    (0..30).for_each(|i| text += &format!("{i},{i},{}.5\n", i % 7));
    text += ",1,2.5\n1,oops,3.5\n4,5,\n6,7\n";
    let folder = written(&[("bad.csv", &text)]);
    let ragged = mistake(&name(folder.path(), "bad.csv"));
    assert!(ragged.contains("bad.csv:35:3: 2 cells, where 3 are expected"), "{ragged}");
    fs::write(folder.path().join("bad.csv"), text.replace("6,7\n", "")).expect("written");
    let wrong = mistake(&name(folder.path(), "bad.csv"));
    let of_windows = text.replace("6,7\n", "").replace('\n', "\r\n");
    fs::write(folder.path().join("bad.csv"), of_windows).expect("written");
    assert_eq!(mistake(&name(folder.path(), "bad.csv")), wrong);
    for part in [
        "3 mistakes",
        "bad.csv:32:1: \"\": no value in column `a`",
        "bad.csv:33:2: \"oops\" in column `b` is not a finite number",
        "bad.csv:34:3: \"\": the target `y` is missing\n",
        "\n  fill it in, or give missing=mean",
        "\n  remove the row, or give missing=drop",
        "\n  correct the cell, or name the column in `categories`",
    ] {
        assert!(wrong.contains(part), "{part}\n{wrong}");
    }
}

#[test]
fn missing_features_are_filled_from_the_training_set_alone_or_their_rows_dropped() {
    let text =
        "x,y,split\n1,0.5,train\n,1.5,train\n4,2.5,train\n9,2.5,train\n100,3.5,test\n,4.5,test\n";
    let folder = written(&[("m.csv", text)]);
    let all =
        |how: &str| load(&name(folder.path(), &format!("m.csv:target=y,missing={how}")), Part::All);
    let (mean, median) = ((1.0 + 4.0 + 9.0) / 3.0, 4.0);
    assert_eq!(features(&all("mean")).1, &[1.0, mean, 4.0, 9.0, 100.0, mean]);
    assert_eq!(features(&all("median")).1, &[1.0, median, 4.0, 9.0, 100.0, median]);
    assert_eq!(features(&all("drop")).1, &[1.0, 4.0, 9.0, 100.0]);
    let looked = look(&Own::parse(&name(folder.path(), "m.csv:target=y")).expect("a name"));
    let looked = looked.expect("a look");
    assert_eq!(looked.seen.missing.get("x"), Some(&2));
    assert!(
        looked.warnings[0].contains("2 missing values will be refused"),
        "{:?}",
        looked.warnings
    );
}

#[test]
fn a_target_with_one_class_is_warned_of() {
    let rows: String = (0..10).map(|row| format!("{row},same\n")).collect();
    let folder = written(&[("one.csv", &format!("a,y\n{rows}"))]);
    let looked = look(&Own::parse(&name(folder.path(), "one.csv")).expect("a name"));
    let warnings = looked.expect("a look").warnings;
    assert!(warnings.iter().any(|warning| warning.contains("of one class")), "{warnings:?}");
}

#[test]
fn examples_in_both_halves_are_found() {
    let text = "x,z,y,split\n1,1,a,train\n2,1,b,train\n2,1,a,test\n5,5,b,test\n1,1,a,train\n";
    let folder = written(&[("d.csv", text)]);
    let looked = look(&Own::parse(&name(folder.path(), "d.csv:target=y")).expect("a name"));
    let looked = looked.expect("a look");
    assert_eq!((looked.duplicates, looked.leaked, looked.contradicting), (2, 1, 1));
    assert_eq!(looked.classes, [("a".to_string(), [2, 1]), ("b".to_string(), [1, 1])]);
    assert_eq!(looked.examples, [3, 2]);
}

#[test]
fn a_column_without_a_name_is_left_out_and_one_that_counts_the_rows_is_told() {
    let rows: String =
        (0..9).map(|i| format!("{},{},{}.5,{i}.25\n", 70 + i, 5 - i, i % 4)).collect();
    for nameless in ["", "Unnamed: 0", "__index_level_0__"] {
        let folder = written(&[("d.csv", &format!("{nameless},id,x,y\n{rows}"))]);
        let name = name(folder.path(), "d.csv");
        let looked = look(&Own::parse(&name).expect("a name")).expect("a look");
        assert_eq!(looked.seen.features, ["id", "x"]);
        assert_eq!(looked.warnings, ["columns that are not used: 0 (it has no name)"]);
        let (train, test) = (load(&name, Part::Train), load(&name, Part::Test));
        assert_eq!((features(&train).0, train.len() + test.len()), (2, 9));
    }
    let folder = written(&[("d.csv", &format!("id,a,x,y\n{rows}"))]);
    let looked = look(&Own::parse(&name(folder.path(), "d.csv")).expect("a name")).expect("a look");
    let expected = "`id` counts the rows; if it means nothing else, give ignore=id";
    assert_eq!(looked.warnings, [expected], "`a` counts down");
}

#[test]
fn groups_and_splits_by_group_come_from_columns() {
    let rows: String = (0..60).map(|i| format!("{i},{}.5,p{}\n", i % 9, i / 6)).collect();
    let folder = written(&[("g.csv", &format!("x,y,patient\n{rows}"))]);
    let name = name(folder.path(), "g.csv:target=y,group=patient,by=patient,test=0.3");
    let (train, test) = (load(&name, Part::Train), load(&name, Part::Test));
    assert_eq!((features(&train).0, train.len() + test.len()), (1, 60));
    assert!(test.len() % 6 == 0 && (12..=24).contains(&test.len()), "{}", test.len());
    assert!(train.groups["patient"].iter().all(|group| !test.groups["patient"].contains(group)));
}

#[test]
fn a_changed_byte_is_another_data_set_and_the_name_is_not() {
    let folder =
        written(&[("a.csv", HOMES), ("b.csv", HOMES), ("c.csv", &HOMES.replace('3', "4"))]);
    let sum = |file: &str| {
        let own =
            Own::parse(&name(folder.path(), &format!("{file}:target=price"))).expect("a name");
        own::card(&own).expect("a card").sha256.clone()
    };
    assert_eq!(sum("a.csv"), sum("b.csv"));
    assert_ne!(sum("a.csv"), sum("c.csv"));
    // sha256sum of the same bytes.
    let expected = {
        use std::process::Command;
        let out =
            Command::new("sha256sum").arg(folder.path().join("a.csv")).output().expect("sha256sum");
        String::from_utf8(out.stdout).expect("text")[..64].to_string()
    };
    assert_eq!(sum("a.csv"), expected);
    // Known once, and read again when it changes.
    fs::write(folder.path().join("a.csv"), HOMES.replace("10.5", "1000.5")).expect("written");
    assert_ne!(sum("a.csv"), expected);
}
