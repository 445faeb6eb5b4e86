//! What a study evaluates besides the test set: decisions, mixtures, attacks, references, searches.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::path::PathBuf;

use serde_json::Value;
use small_study::Study;

impl Study {
    /// What a command that must succeed says.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.dubio(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    fn plan(&self) -> Vec<Value> {
        serde_json::from_str(&self.said(&["plan", "small.toml", "--json"])).expect("JSON")
    }

    /// `run, method, split, score, value` of every score.
    fn scores(&self) -> Vec<[String; 5]> {
        let text = self.said(&["score", "runs", "--resamples", "0"]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.records().map(|row| {
            let row = row.expect("a row");
            [0, 3, 6, 7, 8].map(|column| row[column].to_string())
        });
        rows.collect()
    }

    fn score(&self, method: &str, split: &str, score: &str) -> f64 {
        let scores = self.scores();
        let found: Vec<&[String; 5]> =
            scores.iter().filter(|row| row[1..4] == [method, split, score]).collect();
        assert_eq!(found.len(), 1, "{method} {split} {score}");
        found[0][4].parse().unwrap_or_else(|_| panic!("{method} {split} {score}: {:?}", found[0]))
    }

    fn file(&self, run: &Value, name: &str) -> PathBuf {
        let id = run["id"].as_str().expect("an id");
        self.runs().join(id).join(name)
    }
}

const HEAD: &str = r#"
data = ["digits"]
networks = ["mlp-20"]
"#;

#[test]
fn decisions_are_those_of_networks_that_saw_few_of_the_classes_that_matter() {
    let study = Study::new(&format!(
        "{HEAD}[decision]\ncritical = [3, 7]\ndropped = 0.9\nmiss = 100\nother = 2\n\
         [[methods]]\nmethod = \"sgd\"\nepochs = 20\n"
    ));
    let plan = study.plan();
    assert_eq!(plan.len(), 2, "one run for the test set, one for decisions");
    assert!(plan[0]["settings"].get("learn").is_none());
    assert_eq!(plan[1]["settings"]["learn"]["classes"], serde_json::json!([3, 7]));
    let said = study.said(&["run", "small.toml"]);
    assert!(said.contains("decision_cost") && said.contains("1 of 1"), "{said}");
    // The same from the predictions and a cost matrix that is written here.
    let costs: String = (0..10)
        .map(|decision| {
            let row = (0..10).map(|truth| match truth {
                _ if truth == decision => "0",
                3 | 7 => "100",
                _ => "2",
            });
            row.collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    std::fs::write(study.folder.path().join("costs.csv"), costs).expect("written");
    let file = study.file(&plan[1], "decision.npz");
    let path = file.to_str().expect("text");
    let text = study.said(&["evaluate", path, "--costs", "costs.csv", "--no-intervals", "--json"]);
    let scores: Value = serde_json::from_str(&text).expect("JSON");
    let expected = scores["decision_cost"]["value"].as_f64().expect("a number");
    assert_eq!(study.score("sgd", "decision", "decision_cost"), expected);
    // Networks that saw a tenth of two classes are worse than those that saw all.
    let rare = study.score("sgd", "decision", "accuracy");
    assert!(rare < study.score("sgd", "test", "accuracy"), "{rare}");
}

#[test]
fn decisions_without_imbalance_need_no_run_of_their_own() {
    let study = Study::new(&format!(
        "{HEAD}[decision]\ncritical = [3]\ndropped = 0\nmiss = 1.0\nother = 0.1\n\
         [[methods]]\nmethod = \"sgd\"\nepochs = 5\n"
    ));
    let plan = study.plan();
    assert_eq!(plan.len(), 1);
    study.said(&["run", "small.toml"]);
    assert!(!study.file(&plan[0], "decision.npz").exists());
    assert!(study.score("sgd", "decision", "decision_cost") > 0.0);
    let same = ["test", "decision"].map(|split| study.score("sgd", split, "nll"));
    assert_eq!(same[0], same[1]);
}

#[test]
fn mixtures_references_and_composites_are_scored_from_what_is_stored() {
    let study = Study::new(&format!(
        "{HEAD}[evaluate]\nood = [\"fashion8:test\"]\nreference = \"deep-ensemble\"\n\
         [[methods]]\nmethod = \"sgd\"\nepochs = 10\n\
         [[methods]]\nmethod = \"deep-ensemble\"\nepochs = 10\nmembers = 3\n"
    ));
    study.said(&["run", "small.toml"]);
    let ensemble = |split: &str, score: &str| study.score("deep-ensemble", split, score);
    assert_eq!(ensemble("test", "agreement"), 1.0);
    assert_eq!(ensemble("test", "total_variation"), 0.0);
    assert!(study.score("sgd", "test", "agreement") < 1.0);
    // The mean of the uncertainties grows from that of the test set, in units of log 10.
    let at =
        |percent: usize| ensemble(&format!("mixing.fashion8-test.{percent}"), "batch_uncertainty");
    let own = ensemble("test", "uncertainty.total") / 10f64.ln();
    assert!((at(0) - own).abs() < 0.02, "{} {own}", at(0));
    assert!((1..=10).all(|step| at(10 * step) > at(10 * (step - 1))));
    let auroc = |name: &str| ensemble("test", &format!("ood.fashion8-test.auroc.{name}"));
    let robustness = ensemble("test", "composite.robustness");
    assert!((robustness - (auroc("total") + auroc("model")) / 2.0).abs() < 1e-12);
    // One network has no uncertainty of the model, and so no composite; the reason is given.
    let text = study.said(&["score", "runs", "--resamples", "0", "--scores", "composite"]);
    let of_sgd = text.lines().find(|line| line.contains(",sgd,") && line.contains("robustness"));
    assert!(of_sgd.is_some_and(|line| line.contains("members")), "{text}");
}

#[test]
fn attacks_harm_the_more_the_further_pixels_may_move_and_are_detected_or_not() {
    let study = Study::new(&format!(
        "{HEAD}[evaluate]\nattacks = [\"fgsm\", \"pgd\"]\nepsilons = [0.05, 0.3]\nattack_examples = 100\n\
         augment = [\"flip\"]\nlooks = 4\n\
         [[methods]]\nmethod = \"deep-ensemble\"\nepochs = 20\nmembers = 2\n"
    ));
    let plan = study.plan();
    study.said(&["run", "small.toml"]);
    let of = |split: &str, score: &str| study.score("deep-ensemble", split, score);
    let clean = of("test", "accuracy");
    let fgsm = ["0.05", "0.3"].map(|e| of(&format!("attack.fgsm.{e}"), "accuracy"));
    let pgd = ["0.05", "0.3"].map(|e| of(&format!("attack.pgd.{e}"), "accuracy"));
    assert!(clean > fgsm[0] && fgsm[0] > fgsm[1] && fgsm[1] >= pgd[1], "{clean} {fgsm:?} {pgd:?}");
    let auroc = of("test", "ood.attack.fgsm.0.05.auroc.total");
    assert!((0.5..1.0).contains(&auroc), "{auroc}");
    let shape = |name: &str| {
        let path = study.file(&plan[0], name);
        let text =
            study.said(&["evaluate", path.to_str().expect("text"), "--scores", "nll", "--json"]);
        serde_json::from_str::<Value>(&text).expect("JSON")["nll"]["n"].as_u64()
    };
    assert_eq!(shape("attack.pgd.0.3.npz"), Some(100));
    // Mirrored digits are other digits: looking at them so must not help.
    assert!(of("augmented", "nll") > of("test", "nll"));
}

#[test]
fn a_search_takes_the_settings_that_were_best_on_what_was_held_back() {
    let study = Study::new(&format!(
        "{HEAD}seeds = 2\n[search]\nkind = \"grid\"\nscore = \"accuracy\"\n\
         [[methods]]\nmethod = \"sgd\"\nepochs = 5\nlr = {{ of = [1e-9, 0.1, 1e9] }}\n"
    ));
    let said = study.said(&["plan", "small.toml"]);
    assert!(said.contains("sgd runs when its search is done: 3 trials left"), "{said}");
    // One of the trials diverges: it is told, and it is no reason to stop.
    let output = study.dubio(&["run", "small.toml"]);
    let told = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(output.status.success() && told.contains("trial 3") && told.contains("NaN"), "{told}");
    let plan = study.plan();
    let labels: Vec<&str> = plan.iter().filter_map(|run| run["label"].as_str()).collect();
    assert_eq!(labels, ["sgd, trial 1", "sgd, trial 2", "sgd, trial 3", "sgd", "sgd"]);
    let last = &plan[3]["settings"];
    assert_eq!(last["recipe"]["method"]["lr"], 0.1);
    assert_eq!((&last["search"]["kind"], &last["search"]["budget"]), (&"grid".into(), &3.into()));
    assert_eq!(last["search"]["best"], plan[1]["id"]);
    let path = study.file(&plan[1], "validation.npz");
    let text =
        study.said(&["evaluate", path.to_str().expect("text"), "--scores", "accuracy", "--json"]);
    let scores: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(scores["accuracy"]["n"], 180, "a fifth of what there is to learn from");
    assert_eq!(
        last["search"]["badness"].as_f64(),
        scores["accuracy"]["value"].as_f64().map(|v| -v)
    );
    // What is there is not done again, and the trial that failed is not tried again.
    let again = study.dubio(&["run", "small.toml"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(String::from_utf8_lossy(&again.stderr).contains("2 of 2 runs are finished already"));
}

#[test]
fn a_method_may_have_seeds_of_its_own() {
    let study = Study::new(&format!(
        "{HEAD}seeds = 3\n[[methods]]\nmethod = \"sgd\"\n[[methods]]\nmethod = \"hmc\"\nseeds = [5]\n"
    ));
    let seeds: Vec<u64> =
        study.plan().iter().map(|run| run["settings"]["seed"].as_u64().expect("a seed")).collect();
    assert_eq!(seeds, [0, 1, 2, 5]);
}
