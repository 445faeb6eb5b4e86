//! Arrays, in one file or a folder.

use std::fs;

use dubio_data::dataset::{Answers, Inputs};
use dubio_data::sets::Part;
use dubio_data::sets::own::Own;
use dubio_data::sets::own::look::look;

use crate::support::{floats, load, mistake, name, npy, whole};

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
fn groups_that_differ_by_one_stay_apart_however_large_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let large = (1_i64 << 53) + 1;
    let groups: Vec<i64> = (0..10).map(|i| large - i % 2).collect();
    npy(&root.join("x.npy"), "<f8", &[10, 1], &floats(&[0.5; 10]));
    npy(&root.join("y.npy"), "<f8", &[10], &floats(&[0.5; 10]));
    npy(&root.join("groups.npy"), "<i8", &[10], &whole(&groups));
    let train = load(&name(root, ""), Part::Train);
    assert!([large - 1, large].iter().all(|group| train.groups["groups"].contains(group)));
    npy(&root.join("groups.npy"), "<u8", &[10], &whole(&[-1; 10]));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("array `groups`: a number above 9223372036854775807"), "{wrong}");
}

#[test]
fn of_arrays_that_differ_only_in_letter_case_none_is_taken_for_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    npy(&root.join("x.npy"), "<f8", &[2, 1], &floats(&[0.5; 2]));
    npy(&root.join("X.npy"), "<f8", &[2, 1], &floats(&[1.5; 2]));
    npy(&root.join("y.npy"), "<f8", &[2], &floats(&[0.5; 2]));
    let wrong = mistake(&name(root, ""));
    assert!(wrong.contains("arrays `X` and `x` differ only in letter case"), "{wrong}");
}
