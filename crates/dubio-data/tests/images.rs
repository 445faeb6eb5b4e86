//! Folders of images with a list, as the sets of WILDS come.

use std::fs;
use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::formats::images;

/// A PNG of one colour per pixel, 2 x 1.
fn png(colour: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
    encoder.set_color(colour);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(pixels).expect("pixels");
    writer.finish().expect("memory");
    bytes
}

/// An 8 x 8 JPEG of one grey, 200, from Pillow: `Image.new("L", (8, 8), 200).save(quality=95)`.
const GREY_JPEG: &[u8] = include_bytes!("fixtures/grey200.jpg");
/// An 8 x 8 JPEG of one colour, red 250, green 100, blue 20, in the same way.
const COLOUR_JPEG: &[u8] = include_bytes!("fixtures/orange.jpg");

fn folder(list: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect(name);
    write("rgb.png", &png(png::ColorType::Rgb, &[1, 2, 3, 4, 5, 6]));
    write("rgba.png", &png(png::ColorType::Rgba, &[7, 8, 9, 0, 10, 11, 12, 255]));
    write("grey.png", &png(png::ColorType::Grayscale, &[13, 14]));
    write("large.jpg", COLOUR_JPEG);
    write("list.csv", list.as_bytes());
    folder
}

fn read(folder: &Path, split: Option<&str>) -> Result<Dataset, dubio_data::Error> {
    images::read(&folder.join("list.csv"), split, None)
}

#[test]
fn a_list_gives_images_labels_splits_and_groups() {
    let list = "file,label,split,hospital,country\n\
                rgb.png,1,train,30,Chad\nrgba.png,0,test,10,Benin\ngrey.png,2,test,20,Chad\n";
    let folder = folder(list);
    let test = read(folder.path(), Some("test")).expect("the test set");
    let Inputs::Images(images) = &test.inputs else { panic!("images") };
    assert_eq!((images.channels, images.height, images.width), (3, 1, 2));
    // Planes, not pixels; transparency dropped; grey three times.
    assert_eq!(images.image(0), [7, 10, 8, 11, 9, 12]);
    assert_eq!(images.image(1), [13, 14, 13, 14, 13, 14]);
    assert_eq!(test.answers, Answers::Classes { classes: 3, labels: vec![0, 2] });
    assert_eq!(test.groups["hospital"], [10, 20]);
    assert_eq!(test.groups["country"], [0, 1], "numbered over the whole list");
    assert_eq!(read(folder.path(), None).expect("all").len(), 3);
}

#[test]
fn what_is_wrong_with_a_list_is_said_with_its_place() {
    let refused = |list: &str, split: Option<&str>, words: &str| {
        let folder = folder(list);
        let error = read(folder.path(), split).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("file,label\n", None, "no image in the list");
    refused("name,label\nrgb.png,1\n", None, "no column `file` among name, label");
    refused("file,label\nrgb.png,cat\n", None, "line 2: label \"cat\" is not a class");
    refused("file,label\nrgb.png,-1\n", None, "line 2: label \"-1\" is not a class");
    refused("file,label\nrgb.png,1\nx.png\n", None, "found record with 1 fields");
    refused("file,label,split\nrgb.png,1,train\n", Some("test"), "no image of split `test`");
    refused("file,label\n../secret.png,1\n", None, "leads out of the folder");
    refused("file,label\n/etc/hosts,1\n", None, "leads out of the folder");
    refused("file,label\nmissing.png,1\n", None, "missing.png");
    refused("file,label\nrgb.png,1\nlarge.jpg,1\n", None, "resize it to the 2 x 1");
    refused("file,label\ngrey.png,1\nrgb.png,1\n", None, "coloured image in a grey set");
    refused("file,label\nlist.csv,1\n", None, "cannot be decoded");
}

#[test]
fn jpegs_are_decoded_to_grey_or_colour() {
    let path = Path::new("x.jpg");
    let grey = images::decode(path, GREY_JPEG).expect("grey");
    assert_eq!((grey.channels, grey.height, grey.width), (1, 8, 8));
    assert!(grey.pixels.iter().all(|pixel| pixel.abs_diff(200) <= 1), "{:?}", grey.pixels);
    let colour = images::decode(path, COLOUR_JPEG).expect("colour");
    assert_eq!(colour.channels, 3);
    for (plane, expected) in colour.pixels.chunks(64).zip([250, 100, 20_u8]) {
        assert!(plane.iter().all(|pixel| pixel.abs_diff(expected) <= 4), "{plane:?}");
    }
}

#[test]
fn an_image_that_lies_about_its_size_is_refused() {
    let mut lying = png(png::ColorType::Rgb, &[1, 2, 3, 4, 5, 6]);
    lying[16..24].copy_from_slice(&[0, 0, 0x1f, 0xff, 0, 0, 0x1f, 0xff]); // 8191 x 8191
    let checksum = crc32(&lying[12..29]);
    lying[29..33].copy_from_slice(&checksum.to_be_bytes());
    let error = images::decode(Path::new("x.png"), &lying).expect_err("a lie").to_string();
    assert!(error.contains("8191 x 8191 is too large"), "{error}");
    let mut lying = GREY_JPEG.to_vec();
    let frame = lying.windows(2).position(|two| two == [0xff, 0xc0]).expect("a frame header");
    lying[frame + 5..frame + 9].copy_from_slice(&[0x1f, 0xff, 0x1f, 0xff]);
    let error = images::decode(Path::new("x.jpg"), &lying).expect_err("a lie").to_string();
    assert!(error.contains("8191 x 8191 pixels cannot be in"), "{error}");
}

/// The checksum of PNG chunks.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
