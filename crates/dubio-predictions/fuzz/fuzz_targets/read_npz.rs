//! Any bytes as an `.npz` archive.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = dubio_predictions_fuzz::place("input.npz");
    std::fs::write(&path, bytes).expect("a full disk is no finding");
    dubio_predictions_fuzz::read(&path);
});
