//! Folders and lists of images.

use std::fs;

use dubio_data::dataset::{Answers, Inputs};
use dubio_data::sets::own::look::look;
use dubio_data::sets::own::{self, Own};
use dubio_data::sets::{self, Part};

use crate::support::{load, mistake, name, png, written};

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
    assert!(other.contains("the name does not say which format"), "{other}");
    let empty = mistake(&folder.path().display().to_string());
    assert!(empty.contains("make a folder for each class"), "{empty}");
    let unknown = sets::halves("my_patients").map(|_| ()).expect_err("unknown").to_string();
    assert!(unknown.contains("your own data are named by their path"), "{unknown}");
}
