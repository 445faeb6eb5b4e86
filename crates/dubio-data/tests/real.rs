//! The readers on the published files: counts, histograms, means, checksums.
//!
//! The files are looked for in `$DUBIO_DATA` and then in `../shared/data` beside the repository.
//! A test whose files are in neither is reported as ignored.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dubio_data::Error;
use dubio_data::check::{Status, check};
use dubio_data::dataset::{Answers, Dataset, Images, Inputs};
use dubio_data::formats::uci::Half;
use dubio_data::sets::{self, Counts, Files, Kind, Part};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let roots: Vec<PathBuf> =
        std::env::var_os("DUBIO_DATA").map(PathBuf::from).into_iter().chain([beside]).collect();
    let trial = |name: &'static str, files: &[&str], test: fn(&Path) -> Result<(), Failed>| {
        let there = |root: &&PathBuf| files.iter().all(|file| root.join(file).exists());
        let root = roots.iter().find(there).cloned();
        let ignored = root.is_none();
        let run = move || root.as_deref().map_or(Ok(()), test);
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let table = |name: &'static str, test: fn(&Path) -> Result<(), Failed>| {
        let plain = roots.iter().find(|root| root.join("uci/standard").is_dir()).cloned();
        let packed = roots.iter().map(|root| root.join("uci.tar.gz")).find(|file| file.exists());
        let ignored = plain.is_none() && packed.is_none();
        let run = move || match (&plain, &packed) {
            (Some(root), _) => test(root),
            (None, Some(packed)) => with_unpacked(packed, test),
            (None, None) => Ok(()),
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let trials = vec![
        trial("mnist_is_as_published", &["mnist/train-images-idx3-ubyte.gz"], mnist),
        trial("fashion_mnist_is_as_published", &["fashion-mnist"], fashion_mnist),
        trial("kmnist_test_is_as_published", &["kmnist"], kmnist),
        trial("notmnist_has_a_thousand_of_each_letter", &["notmnist"], notmnist),
        trial("cifar_10_is_as_published", &["cifar-10/data_batch_1.bin"], cifar_10),
        trial("svhn_is_read_as_scipy_reads_it", &["svhn/test_32x32.mat"], svhn),
        table("every_table_has_its_rows_and_checksums", tables),
        table("halves_of_a_standard_split_share_no_row", standard_splits),
        table("a_gap_split_keeps_the_middle_of_a_feature_for_testing", gap_splits),
        table("embedded_tables_are_the_published_ones", embedded),
    ];
    if trials.iter().any(|trial| trial.has_ignored_flag()) {
        eprintln!("note: some data sets are not there; set DUBIO_DATA to have their tests run");
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn load(root: &Path, name: &str) -> Result<Dataset, Error> {
    let name = sets::parse(name)?;
    name.set.load(root, name.part.expect("a part"))
}

fn images(data: &Dataset) -> &Images {
    let Inputs::Images(images) = &data.inputs else { panic!("no images") };
    images
}

fn labels(data: &Dataset) -> &[u32] {
    let Answers::Classes { labels, .. } = &data.answers else { panic!("no labels") };
    labels
}

fn histogram(data: &Dataset) -> Vec<usize> {
    let count = |class| labels(data).iter().filter(|&&label| label == class).count();
    (0..10).map(count).collect()
}

/// Mean of a channel in [0, 1], to four digits, as it is quoted for normalising inputs.
fn mean(data: &Dataset, channel: usize) -> String {
    let images = images(data);
    let plane = images.height * images.width;
    let planes = images.pixels.chunks_exact(plane).skip(channel).step_by(images.channels);
    let sum: u64 = planes.flatten().map(|&pixel| u64::from(pixel)).sum();
    format!("{:.4}", sum as f64 / (images.len() * plane) as f64 / 255.0)
}

/// The statuses of a set's files, to compare with.
fn statuses(root: &Path, name: &str) -> Vec<Status> {
    check(sets::find(name).expect("a set"), root).into_iter().map(|(_, status)| status).collect()
}

fn mnist(root: &Path) -> Result<(), Failed> {
    // Counts of digits and normalising mean as published with every tutorial.
    let test = load(root, "mnist:test")?;
    assert_eq!(histogram(&test), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    assert_eq!(labels(&test)[..5], [7, 2, 1, 0, 4]);
    let train = load(root, "mnist:train")?;
    assert_eq!(histogram(&train), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
    assert_eq!(mean(&train, 0), "0.1307");
    assert_eq!(statuses(root, "mnist"), vec![Status::Good; 4]);
    Ok(())
}

fn fashion_mnist(root: &Path) -> Result<(), Failed> {
    let train = load(root, "fashion-mnist:train")?;
    assert_eq!(histogram(&train), [6000; 10]);
    assert_eq!(mean(&train, 0), "0.2860");
    let test = load(root, "fashion-mnist:test")?;
    assert_eq!(histogram(&test), [1000; 10]);
    assert_eq!(statuses(root, "fashion-mnist"), vec![Status::Good; 4]);
    shrunken(&test)
}

/// `fashion8` is the first hundred of each class, shrunken; its mean is theirs up to rounding.
fn shrunken(test: &Dataset) -> Result<(), Failed> {
    let small = load(Path::new(""), "fashion8:test")?;
    let mut seen = [0; 10];
    let first = |row: &u32| {
        let class = labels(test)[*row as usize] as usize;
        seen[class] += 1;
        seen[class] <= 100
    };
    let rows: Vec<u32> = (0..10_000).filter(first).collect();
    let large = test.subset(&rows);
    assert_eq!(labels(&small), labels(&large));
    for row in 0..1000 {
        let mean = |images: &Images, white: f64| {
            let sum: u32 = images.image(row).iter().map(|&pixel| u32::from(pixel)).sum();
            f64::from(sum) / images.size() as f64 / white
        };
        let gap = mean(images(&small), 16.0) - mean(images(&large), 255.0);
        assert!(gap.abs() < 0.5 / 16.0, "image {row} is off by {gap}");
    }
    Ok(())
}

fn kmnist(root: &Path) -> Result<(), Failed> {
    let test = load(root, "kmnist:test")?;
    assert_eq!(histogram(&test), [1000; 10]);
    assert_eq!(statuses(root, "kmnist")[2..], vec![Status::Good; 2]);
    Ok(())
}

fn notmnist(root: &Path) -> Result<(), Failed> {
    assert_eq!(histogram(&load(root, "notmnist:test")?), [1000; 10]);
    assert_eq!(statuses(root, "notmnist"), vec![Status::Good; 2]);
    Ok(())
}

fn cifar_10(root: &Path) -> Result<(), Failed> {
    let train = load(root, "cifar-10:train")?;
    assert_eq!(histogram(&train), [5000; 10]);
    // The means that everyone normalises with: red, green, blue.
    assert_eq!([0, 1, 2].map(|channel| mean(&train, channel)), ["0.4914", "0.4822", "0.4465"]);
    let test = load(root, "cifar-10:test")?;
    assert_eq!(histogram(&test), [1000; 10]);
    assert_eq!(labels(&test)[..10], [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]);
    assert_eq!(statuses(root, "cifar-10"), vec![Status::Good; 6]);
    Ok(())
}

fn svhn(root: &Path) -> Result<(), Failed> {
    let test = load(root, "svhn:test")?;
    if test.len() != 5000 {
        // The published file; of the one with 5,000 digits all is known.
        assert_eq!(test.len(), 26_032);
        return Ok(());
    }
    // scipy.io.loadmat: counts of y, with those of 10 first; X[3, 7, 1, 100]; sums of X and of
    // its first image.
    assert_eq!(histogram(&test), [342, 1000, 787, 528, 478, 455, 362, 408, 333, 307]);
    let images = images(&test);
    assert_eq!(images.image(100)[1024 + 3 * 32 + 7], 145);
    let sum = |pixels: &[u8]| pixels.iter().map(|&pixel| u64::from(pixel)).sum::<u64>();
    assert_eq!((sum(&images.pixels), sum(images.image(0))), (1_803_698_449, 489_647));
    let expected = 64_275_384;
    let status = statuses(root, "svhn").swap_remove(1);
    assert_eq!(status, Status::Size { found: 12_581_021, expected }, "not the published file");
    Ok(())
}

fn with_unpacked(packed: &Path, test: fn(&Path) -> Result<(), Failed>) -> Result<(), Failed> {
    let root = tempfile::tempdir()?;
    let file = std::io::BufReader::new(std::fs::File::open(packed)?);
    tar::Archive::new(flate2::bufread::GzDecoder::new(file)).unpack(root.path().join("uci"))?;
    test(root.path())
}

fn benchmark() -> impl Iterator<Item = &'static sets::Set> {
    sets::list().into_iter().filter(|set| matches!(set.files, Files::Uci { .. }))
}

fn tables(root: &Path) -> Result<(), Failed> {
    let mut seen = 0;
    for set in benchmark() {
        let Counts::Splits { rows, standard, gap } = set.counts else { panic!("a table") };
        let all = set.load(root, Part::All)?;
        assert_eq!(all.len(), rows, "{}", set.name);
        let statuses = statuses(root, set.name);
        assert_eq!(statuses, vec![Status::Good; 3 + 2 * (standard + gap)], "{}", set.name);
        seen += 1;
    }
    assert_eq!(seen, 9);
    Ok(())
}

fn halves(set: &'static sets::Set, root: &Path, kind: Kind, index: usize) -> [Dataset; 2] {
    [Half::Train, Half::Test].map(|half| {
        set.load(root, Part::Split { kind, index, half }).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn standard_splits(root: &Path) -> Result<(), Failed> {
    for set in benchmark() {
        let Counts::Splits { rows, standard, .. } = set.counts else { panic!("a table") };
        let Answers::Targets(mut all) = set.load(root, Part::All)?.answers else { panic!() };
        all.sort_by(f64::total_cmp);
        for index in 0..standard {
            let [train, test] = halves(set, root, Kind::Standard, index);
            assert!(train.len().abs_diff(rows * 9 / 10) <= 1, "{} {index}", set.name);
            let mut both = Vec::new();
            for half in [train, test] {
                let Answers::Targets(targets) = half.answers else { panic!() };
                both.extend(targets);
            }
            both.sort_by(f64::total_cmp);
            assert_eq!(both, all, "{} {index}: together they are the table", set.name);
        }
    }
    Ok(())
}

fn gap_splits(root: &Path) -> Result<(), Failed> {
    let column = |data: &Dataset, column: usize| -> Vec<f64> {
        let Inputs::Features { width, values } = &data.inputs else { panic!("no features") };
        values.iter().skip(column).step_by(*width).copied().collect()
    };
    for set in benchmark() {
        let Counts::Splits { rows, gap, .. } = set.counts else { panic!("a table") };
        for index in 0..gap {
            let [train, test] = halves(set, root, Kind::Gap, index);
            assert_eq!(train.len() + test.len(), rows, "{} {index}", set.name);
            assert!(test.len().abs_diff(rows / 3) <= 1, "{} {index}: {}", set.name, test.len());
            let middle = column(&test, index);
            let low = middle.iter().copied().fold(f64::INFINITY, f64::min);
            let high = middle.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let outside = column(&train, index).iter().all(|&x| x <= low || x >= high);
            assert!(outside, "{} {index}", set.name);
        }
    }
    Ok(())
}

fn embedded(root: &Path) -> Result<(), Failed> {
    for name in ["yacht", "concrete", "wine-quality-red"] {
        let set = sets::find(name)?;
        let Files::Uci { folder, .. } = set.files else { panic!("a table") };
        let folder = root.join("uci/standard").join(folder).join("data");
        let all = dubio_data::formats::uci::read(&folder)?;
        assert_eq!(set.load(Path::new(""), Part::All)?, all, "{name}");
        for index in 0..20 {
            for half in [Half::Train, Half::Test] {
                let rows = dubio_data::formats::uci::rows(&folder, index, half, all.len())?;
                let part = Part::Split { kind: Kind::Standard, index, half };
                let packed = set.load(Path::new(""), part)?;
                assert_eq!(packed, all.subset(&rows), "{name}:{part}");
            }
        }
    }
    Ok(())
}
