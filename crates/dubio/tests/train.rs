//! `dubio train` as a user meets it: files, messages, exit codes, a kill in the middle.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn dubio(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio")).args(arguments).output().expect("dubio runs")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Trains on digits; `more` are arguments, `settings` go behind a `--set` each.
fn train(method: &str, output: &Path, settings: &[&str], more: &[&str]) -> Output {
    let fixed = ["train", method, "--data", "digits", "-o", text(output)];
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let all: Vec<&str> = fixed.into_iter().chain(set).chain(more.iter().copied()).collect();
    dubio(&all)
}

fn trained(method: &str, output: &Path, settings: &[&str], more: &[&str]) -> String {
    let done = train(method, output, settings, more);
    assert!(done.status.success(), "{method}: {}", errors(&done));
    String::from_utf8(done.stdout).expect("text")
}

fn scores(file: &Path, names: &str) -> Value {
    let output = dubio(&["evaluate", text(file), "--json", "--no-intervals", "--scores", names]);
    assert!(output.status.success(), "{}", errors(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A command that must be refused: exit code 2, and all of these words.
fn refused(output: &Output, words: &[&str]) {
    let said = errors(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    for word in words {
        assert!(said.contains(word), "no {word} in: {said}");
    }
}

#[test]
fn what_is_trained_is_scored_and_right_nine_times_in_ten() {
    let folder = folder();
    for (method, settings, members) in [
        ("sgd", &["epochs=10"][..], 1),
        ("deep-ensemble", &["epochs=5", "members=3"], 3),
        ("mc-dropout", &["epochs=10", "samples=4", "rate=0.2"], 4),
        ("swag", &["epochs=5", "collect_epochs=5", "collect=5", "samples=4"], 4),
        ("sghmc", &["burn_in=15", "samples=4", "prior_std=0.3"], 4),
        ("hmc", &["burn_in=40", "samples=4", "leapfrog=20", "layers=last"], 4),
    ] {
        let file = folder.path().join(format!("{method}.npz"));
        let said = trained(method, &file, settings, &["--network", "mlp-50"]);
        let members = if members == 1 { "1 member".into() } else { format!("{members} members") };
        let first = format!("wrote {}: {members}, 896 examples", file.display());
        assert!(said.starts_with(&first), "{said}");
        assert!(method != "hmc" || said.contains("acceptance_rate: "), "{said}");
        let scores = scores(&file, "accuracy,nll");
        assert_eq!(scores["accuracy"]["n"], 896);
        let accuracy = scores["accuracy"]["value"].as_f64().expect("a number");
        // On random features of the first layer a last layer does less well.
        let least = if method == "hmc" { 0.8 } else { 0.9 };
        assert!((least..0.999).contains(&accuracy), "{method}: {accuracy}");
    }
}

#[test]
fn a_split_of_a_table_is_trained_and_scored_in_the_unit_of_its_targets() {
    let folder = folder();
    let file = folder.path().join("yacht.npz");
    let fixed = ["train", "deep-ensemble", "--network", "mlp-50", "-o", text(&file)];
    let set = ["members=2", "epochs=200", "batch=32", "lr=0.003", "optimiser=adam"];
    let set: Vec<&str> = set.iter().flat_map(|setting| ["--set", setting]).collect();
    let go = |data: &str| dubio(&[&fixed[..], &set, &["--data", data]].concat());
    let output = go("yacht:standard/3/train");
    assert!(output.status.success(), "{}", errors(&output));
    let scores = scores(&file, "rmse");
    assert_eq!(scores["rmse"]["n"], 31, "a tenth of 308 rows");
    // The targets have a standard deviation of 15; a published network's error is near 1.
    let error = scores["rmse"]["value"].as_f64().expect("a number");
    assert!((0.1..5.0).contains(&error), "{error}");
    assert_eq!(go("yacht").status.code(), Some(0), "a table alone is its first split");
    refused(&go("yacht:standard/99"), &["yacht:standard/99", "no such split"]);
    refused(&go("yacht:standard/3/test"), &["what is to be learnt from"]);
    refused(&go("digits:test"), &["what is to be learnt from"]);
}

/// On a machine with a GPU both train there.
#[test]
fn without_a_gpu_cuda_says_what_is_missing_and_auto_takes_the_processor() {
    let (folder, quick) = (folder(), ["epochs=1"]);
    let path = |name: &str| folder.path().join(name);
    let asked = train("sgd", &path("asked.npz"), &quick, &["--device", "cuda"]);
    trained("sgd", &path("auto.npz"), &quick, &["--device", "auto"]);
    if !asked.status.success() {
        refused(&asked, &["NVIDIA", "run on the CPU"]);
        trained("sgd", &path("cpu.npz"), &quick, &[]);
        let bytes = |name: &str| std::fs::read(path(name)).expect("predictions");
        assert_eq!(bytes("auto.npz"), bytes("cpu.npz"));
    }
    let precise = train("sgd", &path("precise.npz"), &quick, &["--precision", "tf32"]);
    refused(&precise, &["--precision tf32 is for a GPU; add --device cuda"]);
}

#[test]
fn a_wrong_setting_is_refused_with_what_would_be_right() {
    let folder = folder();
    let file = folder.path().join("preds.npz");
    let try_set = |setting: &str| train("sgd", &file, &[setting], &[]);
    refused(&try_set("lrr=0.1"), &["sgd:", "`lrr`", "did you mean `lr`?"]);
    refused(
        &try_set("friction=0.1"),
        &["no setting is called `friction`; there are", "weight_decay"],
    );
    refused(&try_set("lr=fast"), &["sgd:", "`lr`", "fast"]);
    refused(&try_set("epochs=2.5"), &["sgd:", "`epochs`", "2.5"]);
    refused(&try_set("lr=-1"), &["`lr` must be above 0, got -1"]);
    refused(&try_set("schedule=cosin"), &["`schedule`", "no schedule is called `cosin`", "cosine"]);
    refused(&try_set("optimiser=adm"), &["`optimiser`", "adm", "`adam`"]);
    refused(&try_set("lr"), &["--set lr: give a name and a value"]);
    refused(&try_set("batch=5000"), &["`batch` is 5000", "give at most 901"]);
    refused(&try_set("layers=fc9"), &["`layers`", "fc9", "fc1, fc2, fc3"]);
    refused(&try_set("start=gone.safetensors"), &["gone.safetensors", "No such file"]);
    assert!(!file.exists());
}

#[test]
fn a_misspelt_name_is_answered_with_the_nearest() {
    let folder = folder();
    let file = folder.path().join("preds.npz");
    let misspelt = train("sghcm", &file, &[], &[]);
    refused(&misspelt, &["no method is called `sghcm`; did you mean `sghmc`?"]);
    let invented = train("variational", &file, &[], &[]);
    refused(&invented, &["no method is called `variational`; there are sgd, deep-ensemble"]);
    let network = train("sgd", &file, &[], &["--network", "resnet"]);
    refused(&network, &["no network is called `resnet`", "mlp-N-N"]);
    let data = dubio(&["train", "sgd", "--data", "digit", "-o", text(&file)]);
    refused(&data, &["digit", "did you mean `digits`?"]);
    let augment = train("sgd", &file, &[], &["--augment", "rotate"]);
    refused(&augment, &["no augmentation is called `rotate`; there are crop and flip"]);
}

#[test]
fn data_that_are_not_there_are_missed_before_anything_is_trained() {
    let folder = folder();
    let (file, empty) = (folder.path().join("preds.npz"), folder.path().join("empty"));
    let output =
        dubio(&["train", "sgd", "--data", "mnist", "--dir", text(&empty), "-o", text(&file)]);
    refused(&output, &["empty", "mnist", "dubio data fetch"]);
    // More epochs than anybody could wait for: what is wrong must be said before the first.
    let long = ["epochs=1000000"];
    let also = format!("mnist:test={}", text(&folder.path().join("ood.npz")));
    let missing = train("sgd", &file, &long, &["--also", &also, "--dir", text(&empty)]);
    refused(&missing, &["mnist"]);
    let also = format!("yacht:all={}", text(&folder.path().join("ood.npz")));
    let unfit = train("sgd", &file, &long, &["--also", &also]);
    refused(&unfit, &["yacht", "the network predicts classes, but the set asks for numbers"]);
    let nowhere = train("sgd", &folder.path().join("no/where.npz"), &long, &[]);
    refused(&nowhere, &["where.npz", "there is no folder", "create it first"]);
    let strange = train("sgd", &folder.path().join("preds.csv"), &long, &[]);
    refused(&strange, &["preds.csv", ".npz or .safetensors"]);
    let looks = train("sgd", &file, &long, &["--looks", "3"]);
    assert_eq!(looks.status.code(), Some(2), "looks at what?");
}

#[test]
fn a_run_that_diverges_keeps_its_samples_under_a_name_that_says_so() {
    let folder = folder();
    let file = folder.path().join("preds.npz");
    // A decay of 2.4 a step turns every parameter around and makes it 1.4 times as large, until a loss overflows.
    let settings = [
        "burn_in=0",
        "samples=50",
        "schedule=constant",
        "lr=0.1",
        "weight_decay=24",
        "temperature=0",
    ];
    let output = train("sgld", &file, &settings, &["--network", "mlp-20"]);
    refused(&output, &["not finished", "kept so far: ", "the loss became", "epoch"]);
    assert!(!file.exists(), "nothing stands under the name of what is whole");
    let kept = folder.path().join("preds.unfinished.npz");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(&format!("wrote {}", kept.display())), "{said}");
    assert_eq!(scores(&kept, "accuracy")["accuracy"]["n"], 896);
    // And without a sample there is nothing to keep.
    let file = folder.path().join("none.npz");
    let output = train("sgd", &file, &["lr=1e18"], &["--network", "mlp-20"]);
    refused(&output, &["the loss became", "smaller learning rate"]);
    assert!(!file.exists() && !folder.path().join("none.unfinished.npz").exists());
}

fn wait_for(path: &Path) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if path.exists() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn the_same_command_after_a_kill_ends_with_the_same_bytes() {
    let folder = folder();
    for (method, settings) in [
        ("sghmc", &["burn_in=20", "samples=20"][..]),
        ("swag", &["epochs=20", "collect_epochs=20", "samples=20", "members=2"]),
    ] {
        let path = |name: &str| -> PathBuf { folder.path().join(format!("{method}-{name}")) };
        let straight = path("straight.npz");
        trained(method, &straight, settings, &["--network", "mlp-30"]);
        let (file, checkpoints) = (path("killed.npz"), path("checkpoints"));
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let fixed = [
            "train",
            method,
            "--data",
            "digits",
            "--network",
            "mlp-30",
            "-o",
            text(&file),
            "--checkpoints",
            text(&checkpoints),
            "--checkpoint-secs",
            "0",
        ];
        let command = [&fixed[..], &set].concat();
        let mut killed = 0;
        // Killed as soon as there is a checkpoint, and after a while again.
        for wait in [0, 40] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_dubio"))
                .args(&command)
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("dubio runs");
            assert!(wait_for(&checkpoints.join("member-0/state.safetensors")), "a checkpoint");
            std::thread::sleep(Duration::from_millis(wait));
            child.kill().expect("killed"); // SIGKILL: nothing is tidied up
            killed += usize::from(!child.wait().expect("ended").success());
        }
        assert!(killed > 0 && !file.exists(), "{method} was done before it could be killed");
        let output = dubio(&command);
        assert!(output.status.success(), "{}", errors(&output));
        let read = |path: &Path| std::fs::read(path).expect("predictions");
        assert!(read(&file) == read(&straight), "{method}");
        // Other settings in the same folder are refused.
        let other = dubio(&[&command[..], &["--set", "lr=0.002"]].concat());
        refused(&other, &["state.safetensors", "other settings", "delete the folder"]);
        let seed = dubio(&[&command[..], &["--seed", "1"]].concat());
        refused(&seed, &["state.safetensors", "other settings"]);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_training_says_how_to_go_on() {
    let folder = folder();
    let (file, checkpoints) = (folder.path().join("preds.npz"), folder.path().join("checkpoints"));
    let child = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(["train", "sghmc", "--data", "digits", "--set", "burn_in=1000000", "-o", text(&file)])
        .args(["--checkpoints", text(&checkpoints), "--checkpoint-secs", "0"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("dubio runs");
    assert!(wait_for(&checkpoints.join("member-0/state.safetensors")), "a checkpoint");
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    let said = errors(&output);
    assert!(
        said.starts_with("error: stopped; resume with: dubio train sghmc --data digits"),
        "{said}"
    );
    assert!(said.contains("--checkpoints"), "{said}");
    assert!(!file.exists());
}

#[test]
fn weights_that_were_changed_meanwhile_are_not_mixed_with_a_checkpoint() {
    let folder = folder();
    let (file, weights) = (folder.path().join("preds.npz"), folder.path().join("weights"));
    let more = ["--network", "mlp-20", "--weights", text(&weights)];
    trained("sgd", &file, &["epochs=1"], &more);
    let (start, checkpoints) = (weights.join("0.safetensors"), folder.path().join("checkpoints"));
    let setting = format!("start={}", text(&start));
    let go = || {
        let settings = ["epochs=1", &setting, "layers=last"];
        let more = ["--network", "mlp-20", "--checkpoints", text(&checkpoints)];
        train("sgd", &file, &settings, &more)
    };
    assert!(go().status.success() && go().status.success(), "{}", errors(&go()));
    trained("sgd", &file, &["epochs=2"], &more);
    refused(&go(), &["state.safetensors", "other settings or other data"]);
}

#[test]
fn a_record_of_the_run_says_what_was_done() {
    let folder = folder();
    let (file, record) = (folder.path().join("preds.npz"), folder.path().join("record.json"));
    let ood = folder.path().join("ood.npz");
    let also = format!("fashion8:test={}", text(&ood));
    let more = [
        "--network",
        "mlp-20",
        "--record",
        text(&record),
        "--also",
        &also,
        "--seed",
        "5",
        "--augment",
        "crop",
        "--looks",
        "2",
    ];
    trained("deep-ensemble", &file, &["epochs=2", "members=2"], &more);
    let record: Value =
        serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
    assert_eq!(record["recipe"]["method"]["method"], "deep-ensemble");
    assert_eq!(record["recipe"]["method"]["epochs"], 2);
    assert_eq!((&record["samples"], &record["seed"]), (&2.into(), &5.into()));
    let losses = record["members"][1]["losses"].as_array().expect("losses");
    assert_eq!(losses.len(), 2);
    let knowledge = &scores(&file, "uncertainty.knowledge")["uncertainty.knowledge"];
    assert!(knowledge["value"].as_f64().is_some_and(|v| v > 0.0), "2 members of 2 looks");
    assert!(ood.exists());
}

#[test]
fn methods_are_listed_and_explained() {
    let list = dubio(&["list", "methods"]);
    let list = String::from_utf8(list.stdout).expect("text");
    assert!(list.lines().count() >= 15 && list.contains("swag"), "{list}");
    let listed = dubio(&["list", "methods", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let listed = listed.as_array().expect("a list");
    assert_eq!(listed.len(), list.lines().count());
    for card in listed {
        let name = card["name"].as_str().expect("a name");
        let explained = dubio(&["explain", name, "--json"]);
        let explained: Value = serde_json::from_slice(&explained.stdout).expect(name);
        assert_eq!(explained["name"], name);
        for field in ["summary", "rule", "citation"] {
            assert!(explained[field].as_str().is_some_and(|s| s.len() > 5), "{name} {field}");
        }
        assert!(explained["settings"].as_object().is_some_and(|s| !s.is_empty()), "{name}");
        assert!(explained["setup"]["batch"].is_number(), "{name}");
    }
    let swag = String::from_utf8(dubio(&["explain", "swag"]).stdout).expect("text");
    for part in ["swag (method)", "rule", "Maddox et al. 2019", "collect_epochs", "prior_std"] {
        assert!(swag.contains(part), "{part} is not in\n{swag}");
    }
    refused(&dubio(&["explain", "swagg"]), &["did you mean `swag`"]);
}
