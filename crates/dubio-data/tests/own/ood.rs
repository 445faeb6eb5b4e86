//! Sets that are out of distribution.

use std::fs;

use dubio_data::dataset::{Answers, Inputs};
use dubio_data::sets::own::look::look;
use dubio_data::sets::own::{self, Own};

use crate::support::{HOMES, features, load_part, mistake, name, npy, png, written};

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
