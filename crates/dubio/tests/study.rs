//! `dubio plan`, `run`, `runs` and `score` on a small study of digits.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dubio_bench::memory;
use dubio_bench::plan::plan;
use dubio_bench::store::Store;
use dubio_bench::suite::Suite;
use serde_json::Value;
use small_study::{SUITE, Study, predictions, text};

#[test]
fn a_study_is_planned_run_scored_and_reported() {
    let study = Study::new(&SUITE.replace("data =", "paper = \"None\"\ndata ="));
    let planned = text(&study.dubio(&["plan", "small.toml"]).stdout);
    assert!(planned.contains("6 runs, 6 to do") && !study.runs().exists(), "{planned}");
    let output = text(&study.run(&[]).stdout);
    assert!(output.trim_end().ends_with("small.html") && output.contains("2 of 2"), "{output}");
    let page = std::fs::read_to_string(study.runs().join("small.html")).expect("a page");
    assert!(
        page.contains("<h1>Small &amp; quick") && page.contains("ood.fashion8-test.auroc"),
        "title and scores"
    );
    assert!(!page.contains("<p>None</p>"), "that there is no paper is no sentence");
    assert_eq!(predictions(&study.runs()).len(), 6 * 3, "test, ood and shift of each run");
    let scores = text(
        &study.dubio(&["score", "runs", "--scores", "accuracy,nll", "--resamples", "50"]).stdout,
    );
    let mut reader = csv::Reader::from_reader(scores.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    assert_eq!(rows.len(), 6 * 2 * 2, "{scores}");
    for row in rows.iter().filter(|row| &row[7] == "accuracy" && &row[6] == "test") {
        let (value, lo, hi): (f64, f64, f64) =
            (row[8].parse().unwrap(), row[9].parse().unwrap(), row[10].parse().unwrap());
        assert!(value > 0.9 && lo <= value && value <= hi, "{row:?}");
    }
    let again = study.run(&[]);
    assert!(
        text(&again.stderr).contains("6 of 6 runs are finished already"),
        "{}",
        text(&again.stderr)
    );
    let list = text(&study.dubio(&["runs", "list"]).stdout);
    assert_eq!(list.lines().count(), 1 + 6, "{list}");
    let id = list.lines().nth(1).expect("a run")[..16].to_string();
    let record = text(&study.dubio(&["runs", "show", &id[..6]]).stdout);
    assert!(record.contains("\"train_wall_secs\"") && record.contains(&id), "{record}");
    assert!(study.dubio(&["runs", "rm", &id]).status.success());
    assert!(text(&study.dubio(&["plan", "small.toml"]).stdout).contains("6 runs, 1 to do"));
}

/// `sqr` and `conditional-flow` predict draws, which have no density.
#[test]
fn methods_that_predict_draws_are_scored_and_reported_beside_gaussians() {
    let method = |name: &str| format!("[[methods]]\nmethod = \"{name}\"\nepochs = 2\n");
    let methods = ["sgd", "sqr", "conditional-flow"].map(method).join("\n");
    let head = "title = \"Draws\"\ndata = [\"yacht:standard/0\"]\nnetworks = [\"mlp-5\"]\n";
    let study = Study::new(&format!("{head}\n{methods}"));
    let output = text(&study.run(&[]).stdout);
    assert!(output.trim_end().ends_with("small.html"), "{output}");
    let scores = study.dubio(&["score", "runs", "--scores", "crps,nll", "--resamples", "20"]);
    let scores = text(&scores.stdout);
    let mut reader = csv::Reader::from_reader(scores.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    assert_eq!(rows.len(), 3 * 2, "{scores}");
    for row in &rows {
        let undefined = &row[7] == "nll" && &row[3] != "sgd";
        assert_eq!(row[8].is_empty(), undefined, "{row:?}");
        assert_eq!(row[12].contains("density"), undefined, "{row:?}");
    }
}

/// A plan for a GPU is made on any machine; without one nothing is begun.
#[test]
fn a_study_for_a_gpu_is_planned_anywhere_and_says_what_is_missing() {
    let study = Study::new(SUITE);
    let planned = text(&study.dubio(&["plan", "small.toml", "--device", "cuda"]).stdout);
    assert!(planned.contains("MB of GPU memory each"), "{planned}");
    assert!(planned.contains("the time on a GPU is not estimated"), "{planned}");
    assert!(planned.lines().next().is_some_and(|heading| heading.contains("GPU MB")), "{planned}");
    let bytes = |device: &str| {
        let listed = study.dubio(&["plan", "small.toml", "--json", "--device", device]).stdout;
        let runs: Value = serde_json::from_slice(&listed).expect("JSON");
        [&runs[0]["memory_bytes"], &runs[0]["gpu_memory_bytes"]].map(|n| n.as_u64().expect("bytes"))
    };
    let [[cpu, none], [host, gpu]] = ["cpu", "cuda"].map(bytes);
    assert!(cpu > 0 && host > 0 && none == 0 && gpu > 600_000_000, "{cpu} {host} {gpu}");
    let output = study.dubio(&["run", "small.toml", "--device", "cuda"]);
    if !output.status.success() {
        let said = text(&output.stderr);
        assert!(said.contains("NVIDIA") && said.contains("run on the CPU"), "{said}");
        assert_eq!(predictions(&study.runs()).len(), 0, "{said}");
    }
}

#[test]
fn one_job_and_two_give_the_same_predictions() {
    let (one, two) = (Study::new(SUITE), Study::new(SUITE));
    one.run(&["--jobs", "1"]);
    two.run(&["--jobs", "2"]);
    let (one, two) = (predictions(&one.runs()), predictions(&two.runs()));
    assert!(one == two && one.len() == 18);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_takes_no_more_memory_than_it_was_estimated_to() {
    let study = Study::new(SUITE);
    study.run(&[]);
    let suite = Suite::parse("small.toml", SUITE).expect("a suite");
    let plan = plan(&suite, study.folder.path(), &|_, _| None).expect("a plan");
    let store = Store::new(&study.runs());
    for run in &plan.runs {
        let spent = store.record(&run.id).expect("a record").spent;
        let (estimate, peak) = (memory::estimate(run), spent.peak_bytes.expect("measured"));
        assert!(peak <= estimate && estimate < 8 * peak, "{}: {estimate} {peak}", run.label);
    }
}

#[test]
fn only_some_runs_when_asked() {
    let study = Study::new(SUITE);
    study.run(&["--only", "method=sg*", "--only", "seed=1"]);
    assert_eq!(predictions(&study.runs()).len(), 2 * 3, "sgd and sghmc");
    for (only, said) in [
        ("method=x", "matches no run"),
        ("colour=red", "the keys are"),
        ("x", "a key and a pattern"),
    ] {
        let output = study.dubio(&["run", "small.toml", "--only", only]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
}

fn kill_group(child: &mut Child) {
    // The whole process group, as a machine that goes down takes the workers with it.
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-9", "--", &group]).status().expect("kill runs");
    child.wait().expect("gone");
}

#[cfg(unix)]
#[test]
fn a_study_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    use std::os::unix::process::CommandExt;
    let undisturbed = Study::new(SUITE);
    undisturbed.run(&[]);
    let expected = predictions(&undisturbed.runs());
    let study = Study::new(SUITE);
    let mut finished = 0;
    for attempt in 0..20_u64 {
        let mut command = study.command(&["run", "small.toml"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().expect("dubio runs");
        std::thread::sleep(Duration::from_millis(20 + 37 * (attempt * attempt % 11)));
        kill_group(&mut child);
        // Nothing that was finished is ever lost.
        let now = if study.runs().exists() { predictions(&study.runs()) } else { BTreeMap::new() };
        assert!(
            now.len() >= finished && now.len().is_multiple_of(3),
            "{} after {finished}",
            now.len()
        );
        assert!(now.iter().all(|(name, bytes)| expected[name] == *bytes));
        finished = now.len();
    }
    study.run(&[]);
    assert!(predictions(&study.runs()) == expected);
}

#[test]
fn two_runners_on_one_folder_do_not_clash() {
    let study = Study::new(SUITE);
    let spawn =
        || study.command(&["run", "small.toml"]).stderr(Stdio::null()).spawn().expect("runs");
    let (mut first, mut second) = (spawn(), spawn());
    assert!(first.wait().expect("ended").success() && second.wait().expect("ended").success());
    study.run(&[]);
    let alone = Study::new(SUITE);
    alone.run(&[]);
    assert!(predictions(&study.runs()) == predictions(&alone.runs()));
}

#[test]
fn a_run_that_fails_is_told_and_the_others_are_kept() {
    let suite = SUITE.replace("lr = 0.01", "lr = 1e6");
    let study = Study::new(&suite);
    let output = study.dubio(&["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("2 of 6 runs failed") && said.contains("smaller learning rate"),
        "{said}"
    );
    assert!(text(&output.stdout).contains("0 of 2"), "{}", text(&output.stdout));
    let page = std::fs::read_to_string(study.runs().join("small.html")).expect("a page");
    assert!(page.contains("none of 2 runs finished") && page.contains("smaller learning rate"));
    assert_eq!(predictions(&study.runs()).len(), 4 * 3);
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_stops_cleanly_and_says_how_to_go_on() {
    interrupted("-INT", |id| format!("-{id}")); // Ctrl-C reaches the workers as well
    interrupted("-INT", |id| id.to_string());
    interrupted("-TERM", |id| id.to_string());
}

#[cfg(unix)]
fn interrupted(signal: &str, whom: impl Fn(u32) -> String) {
    use std::os::unix::process::CommandExt;
    let suite = SUITE.replace("burn_in = 60", "burn_in = 100000");
    let study = Study::new(&suite);
    let mut command = study.command(&["run", "small.toml", "--only", "method=sghmc"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().expect("dubio runs");
    let began = Instant::now();
    let checkpoints = study.runs().join(".locks");
    while !checkpoints.exists() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    Command::new("kill").args([signal, "--", &whom(child.id())]).status().expect("kill runs");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    let said = text(&output.stderr);
    assert!(
        said.contains("stopped with 0 of 2 runs finished; resume with: dubio run small.toml"),
        "{said}"
    );
    let states: Vec<_> =
        std::fs::read_dir(study.runs().join(".checkpoints")).expect("checkpoints").collect();
    assert!(!states.is_empty(), "what was done is kept");
}

#[test]
fn mistakes_in_a_suite_are_told_before_anything_runs() {
    let study =
        Study::new("data = [\"digts\"]\nnetworks = [\"mlp\"]\n[[methods]]\nmethod = \"sgdd\"\n");
    for command in ["plan", "run"] {
        let output = study.dubio(&[command, "small.toml"]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("2 mistakes") && said.contains("small.toml:4:10"), "{said}");
    }
    assert!(!study.runs().exists());
    let output = study.dubio(&["run", "quik"]);
    assert!(text(&output.stderr).contains("did you mean `quick`?"), "{}", text(&output.stderr));
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let study = Study::new(SUITE);
    std::fs::write(study.runs(), "a file in its place").expect("written");
    let output = study.dubio(&["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("runs"), "{}", text(&output.stderr));
}
