//! Names, cards, and the sets that are part of the program.

use std::path::Path;

use dubio_data::Error;
use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::formats::uci::Half;
use dubio_data::sets::{self, Counts, Files, InputKind, Kind, Origin, Part, Task};

fn load(name: &str) -> Result<Dataset, Error> {
    let name = sets::parse(name)?;
    name.set.load(Path::new("there/is/no/such/folder"), name.part.expect("a part"))
}

fn histogram(data: &Dataset) -> Vec<usize> {
    let Answers::Classes { classes, labels } = &data.answers else { panic!("no classes") };
    (0..*classes as u32).map(|class| labels.iter().filter(|&&l| l == class).count()).collect()
}

#[test]
fn names_are_parsed_to_sets_and_parts() {
    let part = |name: &str| sets::parse(name).unwrap_or_else(|e| panic!("{e}")).part;
    assert_eq!(part("mnist"), None);
    assert_eq!(part("cifar-10:test"), Some(Part::Test));
    assert_eq!(part("yacht:all"), Some(Part::All));
    let split = Part::Split { kind: Kind::Standard, index: 3, half: Half::Train };
    assert_eq!(part("yacht:standard/3/train"), Some(split));
    assert_eq!(split.to_string(), "standard/3/train");
    for set in sets::list() {
        assert_eq!(sets::parse(set.name).expect("its own name").set.name, set.name);
    }
}

#[test]
fn a_wrong_name_is_told_the_right_one() {
    let message = |name: &str| sets::parse(name).expect_err(name).to_string();
    assert!(message("cifar10").contains("did you mean `cifar-10`?"), "{}", message("cifar10"));
    assert!(message("minst:test").contains("did you mean `mnist`?"));
    assert!(message("mnist:validation").contains("mnist has `train` and `test`"));
    assert!(message("notmnist:train").contains("notmnist has only `test`"));
    assert!(message("mnist:standard/0/train").contains("no such part"));
    for name in ["yacht:standard/20/train", "yacht:gap/6/test", "yacht:train", "yacht:gap/x/test"] {
        assert!(message(name).contains("for I = 0 to 19"), "{}", message(name));
    }
}

#[test]
fn every_card_is_filled_in() {
    let mut names: Vec<&str> = sets::list().iter().map(|set| set.name).collect();
    assert!(names.len() >= 19);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), sets::list().len(), "no name twice");
    for set in sets::list() {
        let name = set.name;
        for text in [set.summary, set.licence, set.citation, set.note] {
            assert!(!text.is_empty() && !text.contains("  "), "{name}: {text:?}");
        }
        assert!(set.home.starts_with("http"), "{name}");
        assert_eq!(set.files().is_empty(), matches!(set.files, Files::Embedded), "{name}");
        for file in set.files() {
            let sum = file.sha256.iter().all(|sum| sum.len() == 64 && is_hexadecimal(sum));
            assert!(sum, "{name}: {}", file.path);
            let vouched = file.sha256.is_some() || set.note.contains("No SHA-256");
            assert!(vouched, "{name}: say on the card why {} has no checksum", file.path);
            let (url, sum) = match &file.origin {
                Origin::Address(url) => (&url[..], file.sha256.is_some()),
                Origin::Member(archive, _) => (archive.url, archive.sha256.is_some()),
                Origin::ByHand(_) => continue,
            };
            assert!(url.starts_with("https://") || sum, "{name}: {url} proves nothing");
        }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[test]
fn embedded_sets_load_without_any_folder_and_are_what_their_cards_say() {
    for set in sets::list().into_iter().filter(|set| matches!(set.files, Files::Embedded)) {
        let Counts::Parts { train, test } = set.counts else { panic!("parts") };
        for (part, count) in [(Part::Train, train), (Part::Test, test)] {
            if count == 0 {
                continue;
            }
            let data = set.load(Path::new(""), part).expect(set.name);
            assert_eq!(data.len(), count, "{}:{part}", set.name);
            let Inputs::Images(images) = &data.inputs else {
                let Inputs::Features { width, .. } = data.inputs else { unreachable!() };
                assert_eq!(set.inputs, InputKind::Features(width), "{}", set.name);
                continue;
            };
            let InputKind::Images { channels, height, width, white } = set.inputs else { panic!() };
            let found = (images.channels, images.height, images.width);
            assert_eq!(found, (channels, height, width), "{}", set.name);
            assert_eq!(images.pixels.iter().max(), Some(&white), "{}", set.name);
            assert_eq!(images.white, white, "{}", set.name);
            assert!(matches!(set.task, Task::Classification(names) if names.len() == 10));
        }
    }
}

/// Gopal 2021, sec. 4.1: means and standard deviations within five standard errors, and no point in the gap but
/// those of the set that is named after it.
#[test]
fn the_parabola_is_as_published_and_the_same_every_time() {
    for (name, gap) in
        [("parabola:train", false), ("parabola:test", false), ("parabola-gap:test", true)]
    {
        let data = load(name).expect(name);
        assert_eq!(data, load(name).expect(name));
        let Inputs::Features { width: 1, values } = &data.inputs else { panic!("one feature") };
        let Answers::Targets(targets) = &data.answers else { panic!("targets") };
        assert!(values.iter().all(|x| (-1.5..=0.0).contains(x) == gap), "{name}");
        let n = values.len() as f64;
        let noise = || values.iter().zip(targets).map(|(x, y)| y - (x - 1.0).powi(2));
        let (mean, square) = (noise().sum::<f64>() / n, noise().map(|e| e * e).sum::<f64>() / n);
        assert!(mean.abs() < 5.0 * (0.5 / n).sqrt(), "{name}: {mean}");
        // The variance of the square of N(0, 1/2) is 1/2.
        assert!((square - 0.5).abs() < 5.0 * (0.5 / n).sqrt(), "{name}: {square}");
    }
}

#[test]
fn both_parts_of_digits_have_the_same_shares_of_classes() {
    // scikit-learn: numpy.bincount(load_digits().target).
    let all = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180];
    let (train, test) =
        (load("digits:train").expect("digits"), load("digits:test").expect("digits"));
    let (train, test) = (histogram(&train), histogram(&test));
    for class in 0..10 {
        assert_eq!(train[class] + test[class], all[class]);
        assert_eq!(test[class], all[class] / 2);
    }
}

#[test]
fn embedded_tables_have_all_their_standard_splits() {
    for (name, train, test, width) in
        [("yacht", 277, 31, 6), ("concrete", 927, 103, 8), ("wine-quality-red", 1439, 160, 11)]
    {
        for index in 0..20 {
            let half = |half: &str| load(&format!("{name}:standard/{index}/{half}"));
            let (learnt, asked) = (half("train").expect(name), half("test").expect(name));
            assert_eq!((learnt.len(), asked.len()), (train, test), "{name} {index}");
            let Inputs::Features { width: found, values } = learnt.inputs else { panic!() };
            assert_eq!((found, values.len()), (width, train * width));
        }
        let gap = load(&format!("{name}:gap/0/test")).expect_err("no files").to_string();
        assert!(gap.contains("dubio data fetch"), "{gap}");
    }
}

/// Files of two examples each, in the formats of sets that cannot be redistributed.
#[test]
fn sets_are_found_at_their_places_below_the_data_folder() {
    let root = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect(name);
    };
    let record = |labels: &[u8]| [labels, &[7; 3072]].concat();
    for batch in 1..=5 {
        let records = [record(&[batch]), record(&[0])].concat();
        write(&format!("cifar-10/data_batch_{batch}.bin"), &records);
    }
    write("cifar-100/train.bin", &[record(&[3, 42]), record(&[4, 99])].concat());
    write("stl10/test_X.bin", &[9; 2 * 3 * 96 * 96]);
    write("stl10/test_y.bin", &[1, 10]);
    // Unpacked, as some keep them.
    write(
        "kmnist/train-images-idx3-ubyte",
        &[&[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2], &[5; 4][..]].concat(),
    );
    write("kmnist/train-labels-idx1-ubyte", &[0, 0, 8, 1, 0, 0, 0, 1, 9]);
    let labels = |name: &str| {
        let name = sets::parse(name).expect("a name");
        let data = name.set.load(root.path(), name.part.expect("a part"));
        let Answers::Classes { labels, .. } = data.unwrap_or_else(|e| panic!("{e}")).answers else {
            panic!("no classes")
        };
        labels
    };
    assert_eq!(labels("cifar-10:train"), [1, 0, 2, 0, 3, 0, 4, 0, 5, 0], "batch after batch");
    assert_eq!(labels("cifar-100:train"), [42, 99]);
    assert_eq!(labels("stl10:test"), [0, 9]);
    assert_eq!(labels("kmnist:train"), [9]);
    let missing = sets::parse("svhn:test").expect("a name");
    let error = missing.set.load(root.path(), Part::Test).expect_err("no file").to_string();
    assert!(error.contains("test_32x32.mat") && error.contains("dubio data fetch"), "{error}");
}
