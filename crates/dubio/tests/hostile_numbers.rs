//! One list of numbers that nobody means, through every place where a number can be written: each call ends
//! with exit code 0, 1 or 2 and never by a signal or a panic, in a memory of two gigabytes.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value;

/// None is a number that training takes long for: those are refused, or end after one epoch.
const NUMBERS: [&str; 22] = [
    "0",
    "-0.0",
    "-1",
    "0.5",
    "1e-308",
    "1e-40",
    "1e40",
    "1e308",
    "1e400",
    "-1e308",
    "inf",
    "nan",
    "10000000",
    "2147483648",
    "4294967296",
    "4294967297",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0x7fffffffffffffff",
];

const KILOBYTES: u64 = 2_000_000;

/// Runs `dubio` with little memory; what it said, where it ended as it must not.
fn fault(folder: &Path, arguments: &[&str]) -> Option<String> {
    let quoted: Vec<String> =
        arguments.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    // A number that is taken and should not be may keep a method busy for ever.
    let command = format!("ulimit -v {KILOBYTES}; exec timeout 300 \"$0\" {}", quoted.join(" "));
    let output = Command::new("sh")
        .args(["-c", &command, env!("CARGO_BIN_EXE_dubio")])
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(folder)
        .output()
        .expect("a shell");
    match output.status.code() {
        Some(0..=2) => None,
        _ => {
            let said = String::from_utf8_lossy(&output.stderr).to_string();
            Some(format!("{:?}: {}\n{said}", arguments, output.status))
        }
    }
}

fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Methods with settings that make them quick, and all that can be set.
fn methods() -> Vec<(String, Vec<String>, Vec<String>)> {
    let list =
        Command::new(env!("CARGO_BIN_EXE_dubio")).arg("schema").output().expect("dubio runs");
    let schema: Value = serde_json::from_slice(&list.stdout).expect("a schema");
    let tables = schema["properties"]["methods"]["items"]["oneOf"].as_array().expect("methods");
    let method = |table: &Value| {
        let properties = table["properties"].as_object().expect("settings");
        let name = properties["method"]["const"].as_str().expect("a name").to_string();
        let quick = [
            ("epochs", "1"),
            ("samples", "2"),
            ("burn_in", "1"),
            ("cycle_epochs", "2"),
            ("noise_epochs", "1"),
            ("cycle_samples", "1"),
            ("collect_epochs", "2"),
            ("collect", "2"),
            ("leapfrog", "2"),
            ("max_depth", "2"),
            ("members", "1"),
        ];
        let quick = quick.iter().filter(|(key, _)| properties.contains_key(*key));
        let quick = quick.map(|(key, value)| format!("{key}={value}")).collect();
        let settings = properties.keys().filter(|key| !["method", "label"].contains(&&key[..]));
        (name, quick, settings.cloned().collect())
    };
    tables.iter().map(method).collect()
}

#[test]
fn every_setting_of_every_method_takes_or_refuses_every_number() {
    let faults_of = |(method, quick, settings): (String, Vec<String>, Vec<String>)| {
        let folder = tempfile::tempdir().expect("a folder");
        let head = ["train", &method, "--data", "yacht", "--network", "mlp-3", "-o", "out.npz"];
        let mut faults = Vec::new();
        for setting in &settings {
            for number in NUMBERS {
                let set = format!("{setting}={number}");
                let mut arguments = head.to_vec();
                let others = quick.iter().filter(|one| !one.starts_with(&format!("{setting}=")));
                for one in others.chain([&set]) {
                    arguments.extend(["--set", one]);
                }
                faults.extend(fault(folder.path(), &arguments));
            }
        }
        faults
    };
    none(methods().into_par_iter().flat_map_iter(faults_of).collect());
}

#[test]
fn every_number_of_a_suite_is_taken_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut faults = Vec::new();
    let head = "data = \"digits\"\nnetworks = \"mlp-3\"\n";
    let sgd = "[[methods]]\nmethod = \"sgd\"\nepochs = 1\n";
    let mut places = vec![
        format!("{head}seeds = N\n{sgd}"),
        format!("{head}seeds = [N]\n{sgd}"),
        format!("data = \"yacht:standard/N\"\nnetworks = \"mlp-3\"\n{sgd}"),
        format!("data = \"yacht:standard/0..N\"\nnetworks = \"mlp-3\"\n{sgd}"),
        format!("data = \"digits\"\nnetworks = \"mlp-N\"\n{sgd}"),
        format!("data = \"digits\"\nnetworks = \"mlp-N-N-N\"\n{sgd}"),
        format!("data = \"digits\"\nnetworks = \"wideresnetNxN\"\n{sgd}"),
        format!("data = \"digits\"\nnetworks = \"resnetN-cifar\"\n{sgd}"),
        format!("data = \"digits\"\nnetworks = \"preresnet20/N\"\n{sgd}"),
        format!("{head}[evaluate]\nshifts = \"fog\"\nseverities = [N]\n{sgd}"),
        format!("{head}[evaluate]\nattacks = \"fgsm\"\nepsilons = [N]\nattack_examples = N\n{sgd}"),
        format!("{head}[evaluate]\naugment = \"flip\"\nlooks = N\n{sgd}"),
        format!("{head}[decision]\ncritical = [N]\n{sgd}"),
        format!("{head}[decision]\ncritical = [1]\ndropped = N\nmiss = N\nother = N\n{sgd}"),
        format!("{head}[search]\nbudget = N\n{sgd}lr = {{ from = 0.1, to = 1.0 }}\n"),
        format!("{head}[search]\nseed = N\nvalidation = N\n{sgd}lr = {{ of = [0.1] }}\n"),
        format!("{head}[search]\nkind = \"grid\"\n{sgd}lr = {{ from = 0.1, to = N, steps = N }}\n"),
        format!("{head}{sgd}lr = {{ from = N, to = 1e308 }}\nmomentum = {{ of = [N] }}\n"),
        format!("{head}{sgd}schedule = \"step:N:N\"\n"),
        format!("{head}{sgd}schedule = \"cosine:N\"\n"),
        format!("{head}{sgd}warm_up = {{ method = \"sgd\", epochs = N, batch = N }}\n"),
    ];
    let samplers = "burn_in = N\nnoise_from = N\nsamples = N\nthin = N";
    places.push(format!("{head}[[methods]]\nmethod = \"sgld\"\n{samplers}\n"));
    for place in places {
        for number in NUMBERS {
            // A number inside a name is a name.
            let text = place.replace('N', number).replace("mlp--", "mlp-");
            std::fs::write(folder.path().join("s.toml"), &text).expect("written");
            let said = fault(folder.path(), &["plan", "s.toml"]);
            faults.extend(said.map(|said| format!("{text}\n{said}")));
        }
    }
    none(faults);
}

#[test]
fn a_suite_of_hostile_numbers_is_never_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in ["4294967296", "9223372036854775807"] {
        let text = format!(
            "data = \"digits\"\nnetworks = \"mlp-3\"\nseeds = {number}\n[[methods]]\nmethod = \"sgld\"\n\
             samples = {number}\nthin = {number}\n"
        );
        std::fs::write(folder.path().join("s.toml"), text).expect("written");
        assert_eq!(fault(folder.path(), &["run", "s.toml"]), None);
        assert!(!folder.path().join("runs").exists());
    }
}

#[test]
fn more_than_a_hundred_thousand_runs_are_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        "data = \"yacht\"\nnetworks = \"mlp-3\"\nseeds = 100001\n[[methods]]\nmethod = \"sgd\"\n";
    std::fs::write(folder.path().join("s.toml"), text).expect("written");
    let dubio = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
        command.args(arguments).current_dir(folder.path()).output().expect("dubio runs")
    };
    for command in ["plan", "run"] {
        let output = dubio(&[command, "s.toml"]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(said.contains("100001 runs; add --yes"), "{said}");
    }
    assert!(!folder.path().join("runs").exists());
    assert_eq!(dubio(&["plan", "s.toml", "--yes"]).status.code(), Some(0));
}

#[test]
fn every_option_that_is_a_number_is_taken_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, seed: &str| {
        let train = ["train", "deep-ensemble", "--data", "digits", "--network", "mlp-3", "--set"];
        let quick = ["epochs=1", "--set", "members=3", "--seed", seed, "-o", name];
        assert_eq!(fault(folder.path(), &[&train[..], &quick].concat()), None);
    };
    write("a.npz", "0");
    write("b.npz", "1");
    let weights = ["train", "sgd", "--data", "digits", "--set", "epochs=1", "--weights", "w"];
    assert_eq!(fault(folder.path(), &[&weights[..], &["-o", "w.npz"]].concat()), None);
    let table = "dataset,model,method,metric,n_samples,value\nd,a,e,nll,1,0.5\nd,a,e,nll,2,0.4\n";
    std::fs::write(folder.path().join("table.csv"), format!("{table}d,a,m,nll,1,0.45\n"))
        .expect("written");
    // Each with a number that somebody means.
    let calls = [
        ("evaluate a.npz --bins N", "3"),
        ("evaluate a.npz --resamples N", "20"),
        ("evaluate a.npz --level N", "0.5"),
        ("evaluate a.npz --threads N", "2"),
        ("evaluate a.npz --seed N --resamples 20", "3"),
        ("check a.npz --replicates N", "20"),
        ("check a.npz --seed N --replicates 20", "3"),
        ("check a.npz --threads N --replicates 20", "2"),
        ("compare a.npz b.npz --resamples N", "20"),
        ("compare a.npz b.npz --seed N --resamples 20", "3"),
        ("compare a.npz b.npz --threads N --resamples 20", "2"),
        ("dee a.npz --baseline b.npz --samples N", "2"),
        ("dee a.npz --baseline b.npz --draws N", "2"),
        ("dee a.npz --baseline b.npz --seed N", "2"),
        ("dee a.npz --baseline b.npz --threads N", "2"),
        ("dee --table table.csv --baseline e --samples N", "1"),
        ("train sgd --data digits --seed N --set epochs=1 -o c.npz", "3"),
        ("train sgd --data digits --set epochs=1 --augment flip --looks N -o c.npz", "2"),
        (
            "train sgd --data digits --set epochs=1 --checkpoints k --checkpoint-secs N -o c.npz",
            "3",
        ),
        ("train sgd --data digits --network mlp-N --set epochs=1 -o c.npz", "3"),
        ("train sgd --data digits --network mlp-N-N --set epochs=1 -o c.npz", "3"),
        (
            "predict --network mlp --weights w/0.safetensors --data digits:test -o p.npz --batch N",
            "3",
        ),
        (
            "predict --network mlp --weights w/0.safetensors --data digits:test -o p.npz --seed N",
            "3",
        ),
        (
            "predict --network mlp --weights w/0.safetensors --data digits:test -o p.npz --normalize N/N",
            "0.5",
        ),
        (
            "predict --network mlp --weights w/0.safetensors --data digits:test -o p.npz --augment flip \
             --passes N",
            "2",
        ),
        ("report a.npz --resamples N -o r.html", "20"),
    ];
    let mut faults = Vec::new();
    for (call, meant) in calls {
        for number in NUMBERS {
            let call = call.replace('N', number);
            faults.extend(fault(folder.path(), &call.split_whitespace().collect::<Vec<_>>()));
        }
        let call = call.replace('N', meant);
        let words: Vec<&str> = call.split_whitespace().collect();
        let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
            .args(words)
            .current_dir(folder.path())
            .output()
            .expect("dubio runs");
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{call}: {said}");
    }
    none(faults);
}

/// Numbers in a table, which is read and not parsed as options.
#[test]
fn every_number_of_a_table_is_taken_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut faults = Vec::new();
    for number in NUMBERS {
        for line in [format!("1,{number}"), format!("{number},0.5"), format!("{number},{number}")] {
            let table = format!(
                "dataset,model,method,metric,n_samples,value\nd,a,e,nll,1,0.5\nd,a,e,nll,{line}\n\
                 d,a,m,nll,{line}\n"
            );
            std::fs::write(folder.path().join("table.csv"), table).expect("written");
            let arguments = ["dee", "--table", "table.csv", "--baseline", "e"];
            faults.extend(fault(folder.path(), &arguments));
        }
    }
    none(faults);
}
