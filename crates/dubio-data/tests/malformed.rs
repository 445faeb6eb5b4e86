//! Damaged and forged files: a clear error each, no panic, and no memory on a header's word alone.

use std::io::Write;
use std::path::Path;

use dubio_data::Error;
use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::formats::cifar::Layout;
use dubio_data::formats::{cifar, idx, mat, stl10, table};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;

const FILE: &str = "folder/file.ext";

fn path() -> &'static Path {
    Path::new(FILE)
}

/// That it failed, with the file's name, these words, and advice.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, words: &str) {
    let error = result.expect_err("an error");
    let text = error.to_string();
    assert!(text.starts_with(FILE) && text.contains(words), "{text}");
    assert!(!error.advice.is_empty(), "{text}");
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn array(shape: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|axis| axis.to_be_bytes()));
    bytes.extend(data);
    bytes
}

#[test]
fn an_idx_array_is_read_back_plain_and_packed() {
    let bytes = array(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    for bytes in [bytes.clone(), packed(&bytes)] {
        let array = idx::read(path(), &bytes).expect("an array");
        assert_eq!((array.shape, array.bytes), (vec![2, 3], vec![1, 2, 3, 4, 5, 6]));
    }
}

#[test]
fn an_idx_header_is_not_believed() {
    refused(idx::read(path(), b""), "no IDX header");
    refused(idx::read(path(), b"PK\x03\x04...."), "no IDX header");
    refused(idx::read(path(), &[0, 0, 13, 1, 0, 0, 0, 0]), "type 0x0d");
    refused(idx::read(path(), &[0, 0, 8, 3, 0, 0]), "cut short");
    refused(idx::read(path(), &[0, 0, 8, 0]), "cut short");
    refused(idx::read(path(), &array(&[2, 3], &[1; 5])), "5 bytes follow it");
    refused(idx::read(path(), &array(&[2, 3], &[1; 7])), "7 bytes follow it");
    refused(idx::read(path(), &array(&[u32::MAX, u32::MAX, 16], &[1; 9])), "beyond any memory");
    refused(idx::read(path(), &array(&[u32::MAX], &[1; 9])), "9 bytes follow it");
}

#[test]
fn a_packed_idx_cannot_claim_more_than_it_holds() {
    let lying = packed(&array(&[u32::MAX], &[0; 99]));
    refused(idx::read(path(), &lying), "cannot come out of");
    refused(idx::read(path(), &packed(&array(&[100], &[0; 99]))), "99 bytes where 100");
    refused(idx::read(path(), &packed(&array(&[99], &[0; 100]))), "data after its expected end");
    // A bomb behind a header that claims little: it is not unpacked.
    let bomb = packed(&array(&[4], &vec![0; 1 << 24]));
    refused(idx::read(path(), &bomb), "data after its expected end");
    let mut altered = packed(&array(&[100], &(0..100).collect::<Vec<u8>>()));
    let middle = altered.len() - 12;
    altered[middle] ^= 1;
    refused(idx::read(path(), &altered), "");
    refused(idx::read(path(), &packed(&array(&[99], &[1; 99]))[..30]), "");
}

#[test]
fn images_and_labels_must_belong_together() {
    let images = array(&[2, 2, 2], &[0; 8]);
    let set = |labels: &[u8]| idx::dataset((path(), &images), (path(), labels), 10);
    assert_eq!(set(&array(&[2], &[9, 0])).expect("a set").len(), 2);
    refused(set(&array(&[3], &[9, 0, 1])), "shape [3] for 2 images");
    refused(set(&array(&[2], &[9, 10])), "label 10 in row 1, not 0 to 9");
    refused(idx::dataset((path(), &array(&[2], &[0; 2])), (path(), &images), 10), "shape [2]");
    let empty = array(&[0, 28, 28], &[]);
    refused(idx::dataset((path(), &empty), (path(), &array(&[0], &[])), 10), "0 images");
}

#[test]
fn cifar_batches_are_whole_records_of_known_labels() {
    let record = |labels: &[u8]| {
        let mut record = labels.to_vec();
        record.extend((0..3072_u32).map(|pixel| (pixel / 1024) as u8 * 100));
        record
    };
    let ten = cifar::read(path(), &[record(&[9]), record(&[0])].concat(), Layout::Ten);
    let Inputs::Images(images) = ten.expect("a batch").inputs else { panic!("images") };
    assert_eq!((images.len(), images.image(1)[1024]), (2, 100), "green comes second");
    let hundred = cifar::read(path(), &record(&[19, 99]), Layout::Hundred).expect("a batch");
    assert_eq!(hundred.groups["coarse"], [19]);
    assert_eq!(hundred.answers, Answers::Classes { classes: 100, labels: vec![99] });
    refused(cifar::read(path(), &[], Layout::Ten), "no whole number of records");
    refused(cifar::read(path(), &record(&[9])[1..], Layout::Ten), "no whole number");
    refused(cifar::read(path(), &record(&[19, 99]), Layout::Ten), "no whole number");
    refused(cifar::read(path(), &record(&[10]), Layout::Ten), "label 10 in row 0");
    refused(cifar::read(path(), &record(&[20, 1]), Layout::Hundred), "coarse label 20");
    refused(cifar::read(path(), &record(&[1, 100]), Layout::Hundred), "label 100");
}

#[test]
fn stl10_images_are_transposed_and_labels_count_from_one() {
    let mut bytes = vec![0; 3 * 96 * 96];
    bytes[96 + 2] = 7; // red, column 1, row 2
    let set = stl10::read((path(), &bytes), (path(), &[10])).expect("a set");
    let Inputs::Images(images) = &set.inputs else { panic!("images") };
    assert_eq!(images.image(0)[2 * 96 + 1], 7);
    assert_eq!(set.answers, Answers::Classes { classes: 10, labels: vec![9] });
    refused(stl10::read((path(), &bytes), (path(), &[0])), "label 0 in row 0, not 1 to 10");
    refused(stl10::read((path(), &bytes), (path(), &[1, 1])), "2 labels for the 1 images");
    refused(stl10::read((path(), &bytes[1..]), (path(), &[1])), "no whole number");
    refused(stl10::read((path(), &[]), (path(), &[])), "no whole number");
}

/// MATLAB files as small as they come, in either byte order.
#[derive(Clone, Copy)]
struct Mat {
    big: bool,
}

impl Mat {
    fn word(self, word: u32) -> [u8; 4] {
        if self.big { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    fn element(self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = [self.word(kind), self.word(data.len() as u32)].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn matrix(self, class: u32, shape: &[u32], name: &str, data: Vec<u8>) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|&w| self.word(w)).collect::<Vec<u8>>();
        let inner = [
            self.element(6, &words(&[class, 0])),
            self.element(5, &words(shape)),
            self.element(1, name.as_bytes()),
            data,
        ];
        self.element(14, &inner.concat())
    }

    fn pack(self, element: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(element).expect("memory");
        let data = encoder.finish().expect("memory");
        [&self.word(15)[..], &self.word(data.len() as u32), &data].concat()
    }

    fn file(self, elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
        bytes.resize(124, b' ');
        bytes.extend(if self.big { *b"\x01\x00MI" } else { *b"\x00\x01IM" });
        bytes.extend(elements.concat());
        bytes
    }

    fn images(self) -> Vec<u8> {
        let mut pixels = vec![0; 2 * 3072];
        pixels[3072 + 1024 + 5 * 32 + 3] = 200; // second image, green, column 5, row 3
        self.matrix(9, &[32, 32, 3, 2], "X", self.element(2, &pixels))
    }

    fn labels(self) -> Vec<u8> {
        self.matrix(9, &[2, 1], "y", self.element(2, &[10, 9]))
    }
}

fn check_digits(set: &Dataset) {
    let Inputs::Images(images) = &set.inputs else { panic!("images") };
    assert_eq!(images.image(1)[1024 + 3 * 32 + 5], 200);
    assert_eq!(set.answers, Answers::Classes { classes: 10, labels: vec![0, 9] });
}

#[test]
fn mat_files_are_read_in_both_byte_orders_plain_and_packed() {
    for big in [false, true] {
        let mat = Mat { big };
        let other = mat.matrix(6, &[1, 1], "other", mat.element(9, &[0; 8]));
        let plain = mat.file(&[other, mat.images(), mat.labels()]);
        check_digits(&mat::read(path(), &plain).expect("plain"));
        let packed = mat.file(&[mat.pack(&mat.labels()), mat.pack(&mat.images())]);
        check_digits(&mat::read(path(), &packed).expect("packed"));
        // Labels as doubles, as MATLAB itself keeps them, and two bytes in the tag itself.
        let double = |x: f64| if big { x.to_be_bytes() } else { x.to_le_bytes() };
        let doubles = mat.element(9, &[double(10.0), double(9.0)].concat());
        let doubles = mat.matrix(6, &[2, 1], "y", doubles);
        check_digits(&mat::read(path(), &mat.file(&[mat.images(), doubles])).expect("doubles"));
        let small = [mat.word(2 << 16 | 2), [10, 9, 0, 0]].concat();
        let small = mat.matrix(9, &[2, 1], "y", small);
        check_digits(&mat::read(path(), &mat.file(&[mat.images(), small])).expect("small"));
    }
}

#[test]
fn a_forged_mat_file_is_refused() {
    let mat = Mat { big: false };
    let read = |elements: &[Vec<u8>]| mat::read(path(), &mat.file(elements));
    refused(mat::read(path(), b"MATLAB 5.0"), "no MATLAB level 5 header");
    let hdf5 = [&b"MATLAB 7.3 MAT-file"[..], &[0; 200]].concat();
    refused(mat::read(path(), &hdf5), "HDF5");
    refused(read(&[mat.labels()]), "no variable `X`");
    refused(read(&[mat.images()]), "no variable `y`");
    let three = mat.matrix(9, &[3, 1], "y", mat.element(2, &[1, 2, 3]));
    refused(read(&[mat.images(), three]), "3 labels `y` for 2 images");
    let zero = mat.matrix(9, &[2, 1], "y", mat.element(2, &[0, 3]));
    refused(read(&[zero]), "label 0 in row 0");
    let huge = mat.matrix(9, &[32, 32, 3, u32::MAX], "X", mat.element(2, &[0; 64]));
    refused(read(&[huge]), "has 64 bytes");
    let wide = mat.matrix(9, &[64, 64, 3, 1], "X", mat.element(2, &[0; 64]));
    refused(read(&[wide]), "not [32, 32, 3, n]");
    let floats = mat.matrix(6, &[32, 32, 3, 1], "X", mat.element(9, &[0; 8 * 3072]));
    refused(read(&[floats]), "of type 9");
    let cell = mat.matrix(1, &[1, 1], "X", Vec::new());
    refused(read(&[cell]), "no array of real numbers");
    let mut lying = mat.pack(&[mat.word(14), mat.word(u32::MAX)].concat());
    refused(read(&[lying.clone()]), "cannot come out of");
    lying.truncate(lying.len() - 3);
    refused(read(&[lying]), "cut short");
    refused(read(&[vec![15, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]]), "cannot be unpacked");
}

#[test]
fn tables_are_read_with_commas_semicolons_or_white_space() {
    for text in ["1,2\n3,4\n", "1; 2\r\n3; 4\r\n\r\n", " 1\t2 \n\n3  4e0", "\"a\";\"b\"\n1;2\n3;4"]
    {
        let table = table::read(path(), text.as_bytes()).expect(text);
        assert_eq!((table.width, &table.values[..]), (2, &[1.0, 2.0, 3.0, 4.0][..]), "{text:?}");
        assert_eq!(table.names.is_some(), text.contains('a'));
    }
}

#[test]
fn a_table_with_gaps_or_words_is_refused_at_the_place() {
    let read = |text: &str| table::read(path(), text.as_bytes());
    refused(read(""), "no row of numbers");
    refused(read("a,b\n"), "no row of numbers");
    refused(read("1,2\n3\n"), "line 2 has 1 columns, not 2");
    refused(read("1,2\n3,\n"), "\"\" in line 2, column 2");
    refused(read("1 2\n3 x\n"), "\"x\" in line 2, column 2");
    refused(read("1 2\n3 NaN\n"), "not a finite number");
    refused(read("1 2\n3 1e999\n"), "not a finite number");
    refused(read("a,b,c\n1,2\n"), "3 names for 2 columns");
    refused(table::read(path(), &[b'1', b'\n', 0xff]), "line 2 is no text");
    let indices = |text: &str| table::read_indices(path(), text.as_bytes(), 10);
    assert_eq!(indices("3\n0.0\n 9\n").expect("indices"), [3, 0, 9]);
    refused(indices("10\n"), "index 10 in line 1");
    refused(indices("1\n-1\n"), "index -1 in line 2");
    refused(indices("0.5"), "index 0.5");
    refused(indices("4294967297"), "index 4294967297");
    refused(indices("\n"), "no index");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_reader_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = idx::read(path(), &bytes);
        let _ = mat::read(path(), &bytes);
        let _ = table::read(path(), &bytes);
        let _ = table::read_indices(path(), &bytes, 7);
        let _ = cifar::read(path(), &bytes, Layout::Hundred);
        let _ = stl10::read((path(), &bytes), (path(), &bytes));
        let _ = dubio_data::formats::images::decode(path(), &bytes);
    }

    #[test]
    fn no_reader_panics_on_a_file_with_a_byte_changed(place in 0_usize..7000, byte: u8, big: bool) {
        let mat = Mat { big };
        for packed in [false, true] {
            let elements = [mat.labels(), mat.images()];
            let elements = if packed { elements.map(|e| mat.pack(&e)) } else { elements };
            let mut file = mat.file(&elements);
            let place = place % file.len();
            file[place] = byte;
            let _ = mat::read(path(), &file);
            let _ = mat::read(path(), &file[..place]);
        }
        let mut file = packed(&array(&[30, 10, 10], &[3; 3000]));
        let place = place % file.len();
        file[place] = byte;
        let _ = idx::read(path(), &file);
        let _ = idx::read(path(), &file[..place]);
    }
}
