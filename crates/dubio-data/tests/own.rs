//! A user's own data: tables, images and arrays as they come, and every way in which they may be wrong.

use std::fs;
use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets::own::look::look;
use dubio_data::sets::own::{self, Own};
use dubio_data::sets::{self, Part};

fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn name(folder: &Path, rest: &str) -> String {
    format!("{}/{rest}", folder.display())
}

fn load(name: &str, part: Part) -> Dataset {
    let halves = sets::halves(name).unwrap_or_else(|e| panic!("{e}"));
    halves.name.set.load(Path::new(""), part).unwrap_or_else(|e| panic!("{e}"))
}

fn mistake(name: &str) -> String {
    sets::halves(name).map(|_| ()).expect_err("a mistake").to_string()
}

fn features(data: &Dataset) -> (usize, &[f64]) {
    match &data.inputs {
        Inputs::Features { width, values } => (*width, values),
        Inputs::Images(_) => panic!("features"),
    }
}

const HOMES: &str =
    "city,rooms,price,split\nOslo,3,10.5,train\nBern,2,8.25,train\nOslo,1,4.5,test\n";

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
fn a_table_with_other_separators_is_told_which() {
    let rows = "1;2,5;3\n4;5;6\n";
    let folder =
        written(&[("semi.csv", &format!("a;b;price\n{rows}")), ("tabs.csv", "a\tb\n1\t2\n")]);
    let semicolons = mistake(&name(folder.path(), "semi.csv"));
    assert!(semicolons.contains("one column, \"a;b;price\": the cells are separated by ';'"));
    assert!(semicolons.contains("separate them by commas"), "{semicolons}");
    let tabs = mistake(&name(folder.path(), "tabs.csv"));
    assert!(tabs.contains("separated by '\\t'") && tabs.contains("ends in .tsv"), "{tabs}");
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

fn png(path: &Path, side: u32, value: u8) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("made"), side, side);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("written");
    writer.write_image_data(&vec![value; (side * side) as usize]).expect("written");
}

#[test]
fn a_folder_for_each_class_and_a_list_give_the_same_images() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let mut list = "file,label,split\n".to_string();
    for (part, class, value) in
        [("train", "cat", 10), ("train", "dog", 20), ("test", "cat", 30), ("test", "dog", 40)]
    {
        for index in 0..2 {
            let file = format!("images/{part}/{class}/{index}.png");
            png(&root.join(&file), 8, value + index);
            list += &format!("{file},{class},{part}\n");
        }
    }
    fs::write(root.join("list.csv"), &list).expect("written");
    let (by_folder, by_list) = (name(root, "images"), name(root, "list.csv"));
    for part in [Part::Train, Part::Test] {
        let (a, b) = (load(&by_folder, part), load(&by_list, part));
        assert_eq!((&a.inputs, &a.answers), (&b.inputs, &b.answers));
        assert_eq!(a.answers, Answers::Classes { classes: 2, labels: vec![0, 0, 1, 1] });
    }
    let Inputs::Images(images) = load(&name(root, "images:size=4x6"), Part::Test).inputs else {
        panic!("images")
    };
    assert_eq!((images.channels, images.height, images.width), (1, 4, 6));
    assert_eq!(images.image(0), [30; 24]);
    // One of another size is named, and `size` is what to do.
    png(&root.join("images/train/dog/9.png"), 5, 1);
    let wrong = mistake(&by_folder);
    assert!(wrong.contains("dog/9.png: 5 x 5") && wrong.contains("give `size`"), "{wrong}");
    assert!(load(&name(root, "images:size=8"), Part::Train).len() == 5);
    // One that is no image is named, others are compared with the first that is one, and no size helps.
    fs::write(root.join("images/train/cat/0.png"), "no image").expect("written");
    let wrong = mistake(&by_folder);
    for words in ["cat/0.png: cannot be decoded", "cat/1.png has 8 x 8", "give `size`"] {
        assert!(wrong.contains(words), "{words}\n{wrong}");
    }
    let wrong = mistake(&name(root, "images:size=8"));
    assert!(wrong.contains("replace or remove the files") && !wrong.contains("give `size`"));
    png(&root.join("images/train/cat/0.png"), 8, 10);
    // An image that changes changes a list's checksum too.
    let sum = || own::card(&Own::parse(&by_list).expect("a name")).expect("a card").sha256.clone();
    let before = sum();
    png(&root.join("images/test/cat/0.png"), 8, 99);
    assert_ne!(before, sum());
}

#[test]
fn every_image_that_cannot_be_used_is_named_in_both_halves_and_in_a_list() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for half in ["train", "test"] {
        for (class, value) in [("cat", 10), ("dog", 20)] {
            png(&root.join(format!("images/{half}/{class}/0.png")), 8, value);
        }
        fs::write(root.join(format!("images/{half}/dog/1.png")), "no image").expect("written");
    }
    let wrong = mistake(&name(root, "images"));
    for words in ["2 images cannot be used", "train/dog/1.png: cannot", "test/dog/1.png: cannot"] {
        assert!(wrong.contains(words), "{words}\n{wrong}");
    }
    let mut list = "file,label\nimages/train/cat/0.png,cat\n../secret.png,dog\n".to_string();
    (0..30).for_each(|index| list += &format!("lost/{index}.png,dog\n"));
    fs::write(root.join("list.csv"), &list).expect("written");
    let wrong = mistake(&name(root, "list.csv"));
    for words in [
        "31 images cannot be used",
        "leads out of the folder",
        "lost/0.png: No such file",
        "lost/18.png: No such file",
        "and 11 more\n  correct the list, whose paths are relative to it",
    ] {
        assert!(wrong.contains(words), "{words}\n{wrong}");
    }
    assert!(!wrong.contains("DUBIO_DATA") && !wrong.contains("lost/19.png"), "{wrong}");
}

#[test]
fn files_that_are_no_images_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for (class, value) in [("cat", 10), ("dog", 20)] {
        (0..5).for_each(|i| png(&root.join(format!("{class}/{i}.png")), 8, value + i));
    }
    let said = |of: &str| {
        let looked = look(&Own::parse(&name(root, of)).expect("a name")).expect("a look");
        looked.warnings.into_iter().filter(|said| said.contains("not used")).collect::<Vec<_>>()
    };
    assert!(said("").is_empty());
    fs::write(root.join("dog/5.gif"), "GIF89a").expect("written");
    assert_eq!(said(""), ["files that are not used: dog/5.gif"]);
    assert_eq!(said("dog:target=none"), ["files that are not used: 5.gif"]);
    (0..12).for_each(|i| fs::write(root.join(format!("cat/{i:02}.webp")), "").expect("written"));
    assert!(said("")[0].ends_with("cat/09.webp and 3 more"), "{:?}", said(""));
}

#[test]
fn a_training_set_alone_is_not_taken_for_a_class() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for half in ["train", "val"] {
        for class in ["cat", "dog"] {
            png(&root.join(format!("images/{half}/{class}/0.png")), 8, 1);
        }
    }
    let wrong = mistake(&name(root, "images"));
    assert!(wrong.contains("there is a folder `train` alone"), "{wrong}");
    // A class may have this name.
    for class in ["train", "plane"] {
        (0..5).for_each(|index| png(&root.join(format!("rides/{class}/{index}.png")), 8, 1));
    }
    assert!(matches!(
        load(&name(root, "rides"), Part::All).answers,
        Answers::Classes { classes: 2, .. }
    ));
}

#[test]
fn what_is_not_there_and_what_is_no_data_is_told() {
    let missing = mistake("./no/such.csv");
    assert!(missing.contains("check the path"), "{missing}");
    let folder = written(&[("notes.txt", "hello")]);
    let other = mistake(&name(folder.path(), "notes.txt"));
    assert!(other.contains("data are .csv"), "{other}");
    let empty = mistake(&folder.path().display().to_string());
    assert!(empty.contains("make a folder for each class"), "{empty}");
    let unknown = sets::halves("my_patients").map(|_| ()).expect_err("unknown").to_string();
    assert!(unknown.contains("your own data are named by their path"), "{unknown}");
}

/// A `.npy` file, version 1.0.
fn npy(path: &Path, dtype: &str, shape: &[usize], bytes: &[u8]) {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let whole = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat();
    fs::write(path, whole).expect("written");
}

#[test]
fn arrays_have_a_split_and_images_may_have_channels_first_or_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let ints = |labels: &[i64]| labels.iter().flat_map(|y| y.to_le_bytes()).collect::<Vec<u8>>();
    for (part, labels) in [("train", vec![0, 2, 1]), ("test", vec![1, 0, 0])] {
        // [3, 4, 5, 3]: pixel (row, column, channel) is 3 (5 row + column) + channel.
        let pixels: Vec<u8> = (0..3 * 60).map(|i| (i % 60) as u8).collect();
        npy(&root.join(format!("x_{part}.npy")), "|u1", &[3, 4, 5, 3], &pixels);
        npy(&root.join(format!("y_{part}.npy")), "<i8", &[3], &ints(&labels));
    }
    let own = name(root, "");
    let train = load(&own, Part::Train);
    assert_eq!(train.answers, Answers::Classes { classes: 3, labels: vec![0, 2, 1] });
    let Inputs::Images(images) = &train.inputs else { panic!("images") };
    assert_eq!((images.channels, images.height, images.width), (3, 4, 5));
    let green: Vec<u8> = (0..20).map(|place| 3 * place + 1).collect();
    assert_eq!(images.image(1)[20..40], green[..]);
    assert!(matches!(
        load(&name(root, ":task=regression"), Part::Test).answers,
        Answers::Targets(_)
    ));
    npy(&root.join("y_test.npy"), "<i8", &[2], &ints(&[1, 0]));
    let wrong = mistake(&own);
    assert!(wrong.contains("array `y_test`: shape [2], where there are 3 inputs"), "{wrong}");
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn whole(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn every_mistake_in_arrays_is_reported_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let write = |name: &str, dtype: &str, shape: &[usize], bytes: &[u8]| {
        npy(&root.join(format!("{name}.npy")), dtype, shape, bytes);
    };
    let nan = f64::NAN;
    write("x_train", "<f8", &[2, 3], &floats(&[1.0, 2.0, nan, f64::INFINITY, 5.0, 6.0]));
    write("y_train", "<i8", &[3], &whole(&[0, -1, 1]));
    write("x_test", "<f8", &[1, 2], &floats(&[1.0, nan]));
    write("y_test", "<f8", &[1], &floats(&[0.5]));
    write("groups_train", "<f8", &[2], &floats(&[1.0, 2.0]));
    write("group_test", "<i8", &[1], &whole(&[1]));
    let wrong = mistake(&name(root, ""));
    for words in [
        "9 mistakes\n",
        "\n  no array is called `group_test`; did you mean `groups_test`?",
        "\n  examples of shape [3] in `x_train` and [2] in `x_test`; give both the same shape",
        "\n  `y_train` has whole numbers, `y_test` has not; give both as whole numbers",
        "\n  array `x_train`: NaN at [0, 2], inf at [1, 0]; fill the gap or drop the row",
        "\n  array `y_train`: -1 in row 1, where there are 2 classes; labels count from 0",
        "\n  array `groups_train`: no whole numbers; convert it with .astype('int64')",
        "\n  array `y_train`: shape [3], where there are 2 inputs; give one number for every example",
        "\n  array `x_test`: NaN at [0, 1]",
    ] {
        assert!(wrong.contains(words), "{words}\n{wrong}");
    }
    // What is not there, in one line; what was misspelt is not said twice.
    for gone in ["x_test", "y_test", "y_train"] {
        fs::remove_file(root.join(format!("{gone}.npy"))).expect("removed");
    }
    write("Y_tset", "<i8", &[1], &whole(&[1]));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("no array is called `Y_tset`; did you mean `y_test`?"), "{wrong}");
    assert!(wrong.contains("no array y_train, x_test; give x_train, y_train"), "{wrong}");
}

#[test]
fn of_many_bad_places_the_first_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    npy(&root.join("x.npy"), "<f8", &[8, 1], &floats(&[f64::NAN; 8]));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("NaN at [3, 0], NaN at [4, 0] and 3 more\n"), "{wrong}");
}

#[test]
fn arrays_with_other_names_are_left_alone_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    npy(&root.join("x.npy"), "<f8", &[10, 1], &floats(&[0.5; 10]));
    npy(&root.join("y.npy"), "<i8", &[10], &whole(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]));
    npy(&root.join("feature_names.npy"), "<U1", &[1], &[97, 0, 0, 0]);
    let looked = look(&Own::parse(&name(root, "")).expect("a name")).expect("a look");
    assert_eq!(looked.seen.ignored, ["feature_names"]);
    let said = "arrays that are not used: feature_names";
    assert!(looked.warnings.iter().any(|warning| warning == said), "{:?}", looked.warnings);
    // The groups of both halves, beside arrays of one.
    npy(&root.join("group.npy"), "<i8", &[10], &whole(&[1; 10]));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("no array is called `group`; did you mean `groups`?"), "{wrong}");
    let strange = tempfile::tempdir().expect("a folder");
    npy(&strange.path().join("photos.npy"), "<f8", &[1, 1], &floats(&[0.5]));
    let wrong = mistake(&name(strange.path(), ""));
    assert!(wrong.contains("no array x_train, y_train, x_test, y_test among photos"), "{wrong}");
    assert!(wrong.contains("or x and y"), "{wrong}");
}

#[test]
fn an_ood_table_needs_no_target_and_its_features_are_compared_by_name() {
    let folder = written(&[
        ("homes.csv", HOMES),
        ("abroad.csv", "city,rooms\nBern,7\nOslo,9\n"),
        ("more.csv", &format!("city,rooms\n{}", "Bern,7\nOslo,9\n".repeat(5))),
        ("bare.csv", "city\nBern\nOslo\n"),
        ("odd.csv", "city,none,split\nBern,1.5,train\nOslo,2.5,test\n"),
    ]);
    let trained = name(folder.path(), "homes.csv:target=price");
    let abroad = name(folder.path(), "abroad.csv:target=none");
    let data = load_part(&abroad);
    assert_eq!(features(&data), (3, &[1.0, 0.0, 7.0, 0.0, 1.0, 9.0][..]));
    assert_eq!(data.answers, Answers::Unlabelled(2));
    own::same_features(&trained, &abroad).expect("the same features");
    let same = |file: &str| own::same_features(&trained, &name(folder.path(), file));
    let taken = same("more.csv").expect_err("`rooms` was taken for the target").to_string();
    assert!(taken.contains("no feature `rooms`") && taken.contains("target=none"), "{taken}");
    let bare = same("bare.csv:target=none").expect_err("no rooms").to_string();
    assert!(bare.contains("no feature `rooms`"), "{bare}");
    // A column of that name is the target all the same.
    let odd = load_part(&name(folder.path(), "odd.csv:target=none"));
    assert_eq!(odd.answers, Answers::Targets(vec![1.5, 2.5]));
    let wrong = mistake(&abroad);
    assert!(wrong.contains("there are no labels") && wrong.contains("target=price"), "{wrong}");
    let looked = look(&Own::parse(&abroad).expect("a name")).expect("a look");
    assert_eq!((looked.examples, &looked.split[..]), ([0, 2], "no split"));
    assert_eq!(looked.warnings, [""; 0]);
}

#[test]
fn an_ood_table_is_encoded_as_the_training_table_and_unknown_categories_are_zeros_if_asked() {
    let folder = written(&[
        ("homes.csv", HOMES),
        ("turned.csv", "rooms,city\n7,Oslo\n9,Oslo\n"),
        ("far.csv", "city,rooms\nRome,7\nOslo,9\nNice,8\n"),
        ("text.csv", "city,rooms\nBern,many\nOslo,few\n"),
        ("wide.csv", "city,rooms,floor\nBern,1,2\nOslo,3,4\n"),
    ]);
    let trained = name(folder.path(), "homes.csv:target=price");
    let other = |file: &str| name(folder.path(), &format!("{file}:target=none"));
    let aligned = |file: &str| own::aligned(&trained, file, load_part(file));
    // Columns of the training table: city=Bern, city=Oslo, rooms.
    let turned = aligned(&other("turned.csv")).expect("the same columns");
    assert_eq!(features(&turned), (3, &[0.0, 1.0, 7.0, 0.0, 1.0, 9.0][..]));
    let wrong = aligned(&other("far.csv")).expect_err("unknown").to_string();
    assert!(wrong.contains("column `city` has `Nice`, `Rome`"), "{wrong}");
    assert!(wrong.contains("unknown=ignore"), "{wrong}");
    let far = aligned(&format!("{},unknown=ignore", other("far.csv"))).expect("ignored");
    assert_eq!(features(&far), (3, &[0.0, 0.0, 7.0, 0.0, 1.0, 9.0, 0.0, 0.0, 8.0][..]));
    for (file, words) in [
        ("text.csv", "feature `rooms` has categories, where"),
        ("wide.csv", "feature `floor`, which"),
    ] {
        let wrong = aligned(&format!("{},unknown=ignore", other(file))).expect_err(words);
        assert!(wrong.to_string().contains(words), "{wrong}");
    }
}

/// As an OOD set is read: all of it, unless `part` says otherwise.
fn load_part(name: &str) -> Dataset {
    let parsed = sets::parse(name).unwrap_or_else(|e| panic!("{e}"));
    parsed.set.load(Path::new(""), parsed.part.expect("a part")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn an_ood_set_of_images_needs_no_folders_of_classes() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for (place, value) in [("flat/b.png", 2), ("flat/a.png", 1), ("deep/x/c.png", 3)] {
        png(&root.join(place), 4, value);
    }
    let flat = load_part(&name(root, "flat"));
    assert_eq!(flat.answers, Answers::Unlabelled(2));
    let Inputs::Images(images) = &flat.inputs else { panic!("images") };
    assert_eq!((images.image(0)[0], images.image(1)[0]), (1, 2));
    assert_eq!(load_part(&name(root, "deep:target=none")).answers, Answers::Unlabelled(1));
    let one_class = mistake(&name(root, "deep"));
    assert!(one_class.contains("1 folder in it") && one_class.contains("target=none"));
    let wrong = mistake(&name(root, "flat"));
    assert!(wrong.contains("there are no labels") && wrong.contains("a folder for each class"));
    fs::write(root.join("list.csv"), "file\nflat/a.png\ndeep/x/c.png\n").expect("written");
    let listed = load_part(&name(root, "list.csv:target=none"));
    assert_eq!(listed.answers, Answers::Unlabelled(2));
}

#[test]
fn ood_arrays_need_no_labels_and_parts_can_still_be_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let values: Vec<u8> = (0..10).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    npy(&root.join("x.npy"), "<f8", &[10, 1], &values);
    let whole = load_part(&name(root, ""));
    assert_eq!((whole.answers, whole.inputs), {
        let values = (0..10).map(f64::from).collect();
        (Answers::Unlabelled(10), Inputs::Features { width: 1, values })
    });
    let part = load_part(&name(root, ":test=0.3,part=test"));
    assert_eq!(part.answers, Answers::Unlabelled(3));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("name the array of labels or targets y"), "{wrong}");
    let wrong = mistake(&name(root, ":by=site"));
    assert!(wrong.contains("`by` is `site`, but no array has groups"), "{wrong}");
    // Labels that are there can be left out.
    let labels: Vec<u8> = (0..10i64).flat_map(|i| (i % 2).to_le_bytes()).collect();
    npy(&root.join("y.npy"), "<i8", &[10], &labels);
    assert!(matches!(load_part(&name(root, "")).answers, Answers::Classes { classes: 2, .. }));
    assert_eq!(load_part(&name(root, ":target=none")).answers, Answers::Unlabelled(10));
}
