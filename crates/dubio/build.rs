//! What the program was built with, for `dubio --version`.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.unwrap_or_else(|| "an unknown rustc".to_string());
    let target = env::var("TARGET").unwrap_or_default();
    let features = ["bayesian", "parquet"]
        .into_iter()
        .filter(|name| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some());
    let features: Vec<&str> = features.collect();
    let features = if features.is_empty() { "none".to_string() } else { features.join(", ") };
    println!("cargo::rustc-env=DUBIO_RUSTC={}", version.trim());
    println!("cargo::rustc-env=DUBIO_TARGET={target}");
    println!("cargo::rustc-env=DUBIO_FEATURES={features}");
    println!("cargo::rerun-if-changed=build.rs");
}
