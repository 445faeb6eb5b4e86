//! What a suite may say, and every mistake that it can make.

use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::suite::Suite;
use serde_json::json;

const SOUND: &str = r#"data = ["digits"]
networks = ["mlp-20"]
seeds = 2

[[methods]]
method = "sgd"
epochs = 3
"#;

fn mistakes(text: &str) -> String {
    match Suite::parse("s.toml", text) {
        Ok(_) => "none".to_string(),
        Err(mistakes) => mistakes.to_string(),
    }
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_was_meant() {
    // The text, and what must be said of it.
    let table: &[(&str, &[&str])] = &[
        ("", &["`data` is missing", "`networks` is missing", "there are no methods"]),
        ("data = [", &["s.toml:1:"]),
        ("data = [\"digits\"]\nnetworks = [\"mlp\"\n[[methods]]\nmethod = \"sgd\"", &["s.toml:"]),
        ("dta = 1", &["s.toml:1:1: no key of a suite is called `dta`; did you mean `data`?"]),
        ("data = [\"digts\"]", &["s.toml:1:9:", "did you mean `digits`?"]),
        ("data = 3", &["`data` must be text in quotes, got the number 3"]),
        ("data = []", &["s.toml:1:8: `data` must not be empty"]),
        ("networks = [\"mpl\"]", &["s.toml:1:13: no network is called `mpl`"]),
        ("seeds = -1", &["`seeds` must be a whole number from 0"]),
        ("seeds = 0", &["`seeds` must be from 1 to 1000000"]),
        ("seeds = \"five\"", &["got the text \"five\""]),
        (
            "device = \"gpu\"",
            &["s.toml:1:10: `device`: no device is called `gpu`; use cpu, cuda or auto"],
        ),
        (
            "precision = \"tf32\"",
            &["s.toml:1:13: `precision` = \"tf32\" is for a GPU; add device = \"cuda\""],
        ),
        ("evaluate = 1", &["`evaluate` must be a table"]),
        ("[evaluate]\nshifts = [\"foggy\"]", &["no shift is called `foggy`; did you mean `fog`?"]),
        (
            "[evaluate]\nood = [\"fashion-mnits\", \"nowhere\"]",
            &[
                "s.toml:2:8: fashion-mnits: no data set has this name; did you mean `fashion-mnist`?",
                "s.toml:2:25: nowhere: no data set has this name; `dubio data list`",
            ],
        ),
        (
            "[evaluate]\nshifts = [\"fog\"]\nseverities = [0, 6]",
            &["s.toml:3:15: a severity is", "s.toml:3:18"],
        ),
        (
            "[evaluate]\nshift = [\"fog\"]",
            &["no key of [evaluate] is called `shift`; did you mean `shifts`?"],
        ),
        (
            "[evaluate]\nattacks = [\"fgms\"]\nepsilons = [0, 2, \"a\"]",
            &[
                "s.toml:2:12: no attack is called `fgms`; did you mean `fgsm`?",
                "s.toml:3:13: an epsilon is a fraction of the brightest pixel",
                "s.toml:3:16:",
                "`epsilons` must be a number, got the text \"a\"",
            ],
        ),
        (
            "[evaluate]\naugment = \"blur\"\nlooks = 0",
            &[
                "no augmentation is called `blur`",
                "s.toml:3:9: `looks` must be one number, from 1 to 1000",
            ],
        ),
        (
            "[evaluate]\nreference = \"hcm\"\n[[methods]]\nmethod = \"hmc\"",
            &[
                "s.toml:2:13: no method or file for a reference is called `hcm`; did you mean `hmc`?",
            ],
        ),
        ("decision = 1", &["`decision` must be a table"]),
        ("[decision]", &["`critical` is missing; it lists the classes"]),
        (
            "[decision]\ncritical = [3]\ndropped = 1\nmiss = -1\nothr = 2",
            &[
                "s.toml:3:11: `dropped` must be at least 0 and below 1, got 1",
                "s.toml:4:8: `miss` must be at least 0, got -1",
                "no key of [decision] is called `othr`; did you mean `other`?",
            ],
        ),
        (
            "[[methods]]\nmethod = \"hmc\"\nwarm_up = { method = \"sgd\", lrr = 1 }",
            &["s.toml:3:11: `warm_up`:", "lrr"],
        ),
        (
            "[search]\nkind = \"rendom\"\nbudget = 0\nvalidation = 1.5\nscore = \"nlll\"\nsede = 1",
            &[
                "no kind of search is called `rendom`; did you mean `random`?",
                "s.toml:3:10: `budget` must be from 1 to 100000",
                "s.toml:4:14: `validation` is a fraction of the training set",
                "no score is called `nlll`; did you mean `nll`?",
                "no key of [search] is called `sede`; did you mean `seed`?",
            ],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nlr = { from = 1, to = 0.1 }\nbatch = { off = [1] }",
            &[
                "s.toml:3:6: `lr`: a search is written",
                "must be below `to`, got 1 and 0.1",
                "it has no `off`",
            ],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nlr = { from = -1.0, to = 0.1 }",
            &["s.toml:3:6: `lr` must be above 0, got -1"],
        ),
        ("methods = 1", &["written [[methods]]"]),
        ("[[methods]]\nlr = 0.1", &["`method` is missing; it names one of sgd,"]),
        (
            "[[methods]]\nmethod = \"sgdl\"",
            &["s.toml:2:10: no method is called `sgdl`; did you mean `sgld`?"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nleaning_rate = 0.1",
            &["no setting of sgd is called `leaning_rate`; there are epochs"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nepoch = 3",
            &["no setting of sgd is called `epoch`; did you mean `epochs`?"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nlr = \"big\"",
            &["s.toml:3:6: `lr`: expected a number, got \"big\""],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nlr = -0.1",
            &["s.toml:3:6: `lr` must be above 0, got -0.1"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nlr = inf",
            &["s.toml:3:6: a setting must be a finite number"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nschedule = \"cosin\"",
            &["`schedule`: no schedule is called `cosin`"],
        ),
        (
            "[[methods]]\nmethod = \"sgd\"\nprior_std = 1.0\nweight_decay = 0.1",
            &["set the same thing"],
        ),
        (
            "[[methods]]\nmethod = \"swag\"\ncollect = 30",
            &["s.toml:3:11: `collect` is the number of epochs"],
        ),
        ("[[methods]]\nmethod = \"sgd\"\nlr = 1979-05-27", &["no setting is a date"]),
        (
            "[[methods]]\nmethod = \"sgd\"\naugment = [\"crop\", \"blur\"]",
            &["`augment`: unknown variant `blur`"],
        ),
    ];
    for (text, expected) in table {
        let said = mistakes(text);
        for part in *expected {
            assert!(said.contains(part), "{text}\n--- must say\n{part}\n--- but says\n{said}");
        }
    }
}

#[test]
fn what_would_count_twice_is_refused_with_its_place() {
    let method = |settings: &str| format!("[[methods]]\nmethod = \"sgd\"\n{settings}\n");
    let two = |first: &str, second: &str| format!("{}{}", method(first), method(second));
    // The text, and what must be said of it; the second mistake names the first's line.
    let table: &[(String, &str)] = &[
        ("seeds = [1, 2,\n 1]".into(), "s.toml:2:2: seed 1 is listed already, in line 1"),
        (
            "data = [\"digits\", \"digits\"]".into(),
            "s.toml:1:19: data set digits is listed already",
        ),
        (
            "data = [\"yacht\", \"yacht:standard/0..2\"]".into(),
            "s.toml:1:18: data set yacht:standard/0",
        ),
        ("networks = [\"mlp\", \"mlp\"]".into(), "s.toml:1:20: network mlp is listed already"),
        ("[evaluate]\nood = [\"mnist\", \"mnist\"]".into(), "s.toml:2:17: OOD set mnist"),
        ("[evaluate]\nshifts = [\"fog\", \"cifar-10-c\"]".into(), "s.toml:2:18: shift fog"),
        ("[evaluate]\nshifts = \"fog\"\nseverities = [2, 2]".into(), "s.toml:3:18: severity 2"),
        (
            "[evaluate]\nattacks = [\"fgsm\", \"fgsm\"]\nepsilons = [0.1, 0.10]".into(),
            "s.toml:2:20: attack fgsm is listed already, in line 2; leave one of them out\n  \
             s.toml:3:18: epsilon 0.1",
        ),
        (two("", ""), "s.toml:4:1: `sgd` has the settings and a seed of the [[methods]] in line 1"),
        (two("lr = 0.05", "label = \"mine\""), "s.toml:4:1: `mine` has the settings and a seed of"),
        (
            two("seeds = [1, 2]", "seeds = [2, 3]"),
            "s.toml:4:1: `sgd` has the settings and a seed of",
        ),
        (method("lr = [0.1, 0.1]"), "s.toml:1:1: `sgd, lr = 0.1` has the settings and a seed of"),
        (method("lr = [1, 1.0]"), "s.toml:1:1: `sgd, lr = 1.0` has the settings and a seed of"),
        (
            two("lr = 0.1", "lr = 0.2"),
            "s.toml:4:1: `sgd` is the label of other settings, in line 1",
        ),
        (
            two("", "lr = { from = 0.1, to = 1.0 }"),
            "s.toml:4:1: `sgd` is the label of other settings",
        ),
        (
            two("lr = { from = 0.1, to = 1.0 }", "lr = { from = 0.1, to = 1.0 }"),
            "s.toml:4:1: `sgd` has the settings and a seed of",
        ),
    ];
    for (text, expected) in table {
        let said = mistakes(text);
        assert!(said.contains(expected), "{text}\n--- must say\n{expected}\n--- but says\n{said}");
    }
    // More seeds of one method, and the same settings of other seeds under another name, are not.
    for second in ["seeds = [1]", "seeds = [1]\nlabel = \"again\""] {
        let text = format!("data = \"digits\"\nnetworks = \"mlp\"\n{}", two("seeds = [0]", second));
        assert_eq!(mistakes(&text), "none");
    }
}

#[test]
fn labels_are_what_may_stand_in_a_file_name() {
    for label in ["", ".", "../victim", "a/b", "two\nlines", "\u{1b}[31mred"] {
        let said =
            mistakes(&format!("[[methods]]\nmethod = \"sgd\"\nlabel = {}", toml_text(label)));
        assert!(said.contains("s.toml:3:9: `label`: the name"), "{label:?}: {said}");
    }
}

fn toml_text(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => format!("\\u{:04x}", c as u32),
        false => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[test]
fn a_thousand_mistakes_are_counted_and_the_first_hundred_told() {
    let keys: String = (0..100_000).map(|i| format!("key{i} = 1\n")).collect();
    let said = mistakes(&keys);
    assert!(said.starts_with("s.toml: 100003 mistakes"), "{}", &said[..60]);
    assert_eq!(said.lines().count(), 102);
    assert!(said.ends_with("and 99903 more"));
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let text = "data = [\"digts\"]\nnetworks = [\"mpl\"]\nsed = 1\n\n[[methods]]\nmethod = \"sgd\"\nlr = -1\n\
                [[methods]]\nmethod = \"sgdl\"\n";
    let said = mistakes(text);
    let lines: Vec<usize> = said
        .lines()
        .skip(1)
        .filter_map(|line| line.trim().strip_prefix("s.toml:")?.split(':').next()?.parse().ok())
        .collect();
    assert_eq!(lines, [1, 2, 3, 7, 9], "{said}");
    assert!(said.starts_with("s.toml: 5 mistakes"), "{said}");
}

#[test]
fn a_list_where_one_value_is_wanted_is_a_grid() {
    let text = format!("{SOUND}lr = [0.1, 0.2]\nmomentum = [0.0, 0.5, 0.9]\n");
    let suite = Suite::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(suite.methods.len(), 6);
    assert_eq!(*suite.methods[1].label, *"sgd, lr = 0.1, momentum = 0.5");
    let runs = plan(&suite, "".as_ref(), &|_, _| None).unwrap().runs;
    assert_eq!(runs.len(), 12);
    let mut ids: Vec<&str> = runs.iter().map(|run| &run.id[..]).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 12, "every run has an id of its own");
}

/// What the validation data of a search choose is what the run has, also where a setting has a name or a number.
#[test]
fn validation_chooses_the_prior_precision_and_the_noise_scale_of_laplace() {
    for (setting, default) in
        [("prior_precision", json!("marginal-likelihood")), ("noise_scale", json!(1.0))]
    {
        let head = SOUND.replace("[[methods]]", "[search]\nkind = \"grid\"\n\n[[methods]]");
        let head = head.replace("sgd", "laplace").replace("seeds = 2", "seeds = 1");
        let plain = Suite::parse("s.toml", &head).unwrap_or_else(|e| panic!("{e}"));
        let of = |run: &PlannedRun| {
            serde_json::to_value(&run.settings.recipe).unwrap()["method"][setting].clone()
        };
        assert_eq!(of(&plan(&plain, "".as_ref(), &|_, _| None).unwrap().runs[0]), default);
        for best in [0.01, 0.1, 1.0, 10.0, 100.0] {
            let text =
                format!("{head}{setting} = {{ from = 0.01, to = 100.0, scale = \"log\" }}\n");
            let suite = Suite::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
            let badness =
                |run: &PlannedRun| (of(run).as_f64().expect("a number") / best).ln().abs();
            let plan = plan(&suite, "".as_ref(), &|run, _| Some(badness(run))).unwrap();
            assert_eq!((plan.trials.len(), plan.runs.len()), (5, 1));
            let found = of(&plan.runs[0]).as_f64().expect("a number");
            assert!((found / best - 1.0).abs() < 1e-9, "{setting}: {found}, not {best}");
        }
    }
}

/// A worker reads its run from a folder that may come from elsewhere.
#[test]
fn a_run_under_the_id_of_another_is_not_read() {
    let suite = Suite::parse("s.toml", SOUND).unwrap_or_else(|e| panic!("{e}"));
    let run = plan(&suite, "".as_ref(), &|_, _| None).unwrap().runs.remove(0);
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(PlannedRun::read(&mut text.as_bytes()).unwrap(), run);
    for id in ["0123456789abcdef", "../../victim"] {
        let lying = text.replacen(&*run.id, id, 1);
        assert!(PlannedRun::read(&mut lying.as_bytes()).is_err(), "{id}");
    }
}

#[test]
fn an_id_depends_on_what_the_result_depends_on_and_on_nothing_else() {
    let id = |text: &str| {
        let suite = Suite::parse("s.toml", text).unwrap_or_else(|e| panic!("{e}"));
        plan(&suite, "".as_ref(), &|_, _| None).unwrap().runs[0].id.clone()
    };
    let first = id(SOUND);
    assert_eq!(first, id(&format!("title = \"Another\"\n{SOUND}label = \"my own\"\n")));
    assert_eq!(first, id(&format!("{SOUND}lr = 0.05 # the default, written out\n")));
    for change in [
        SOUND.replace("seeds = 2", "seeds = [7]"),
        SOUND.replace("mlp-20", "mlp-21"),
        SOUND.replace("epochs = 3", "epochs = 4"),
        format!("{SOUND}batch = 64\n"),
        format!("{SOUND}[evaluate]\nood = [\"fashion8:test\"]\n"),
    ] {
        assert_ne!(first, id(&change), "{change}");
    }
}

#[test]
fn letter_case_and_hyphens_make_no_other_run() {
    let plain = "data = [\"digits\"]\nnetworks = [\"mlp-20\"]\n[evaluate]\nood = [\"fashion8:test\"]\n\
        shifts = [\"gaussian_noise\"]\n[[methods]]\nmethod = \"mc-dropout\"\nweight_decay = 0.1";
    let other = "data = [\"Digits\"]\nnetworks = [\"MLP_20\"]\n[evaluate]\nood = [\"FASHION8:Test\"]\n\
        shifts = [\"Gaussian-Noise\"]\n[[methods]]\nmethod = \"MC_Dropout\"\nWeight-Decay = 0.1";
    let planned = |text: &str| -> Vec<PlannedRun> {
        let suite = Suite::parse("s.toml", text).unwrap_or_else(|e| panic!("{e}"));
        plan(&suite, "".as_ref(), &|_, _| None).expect("planned").runs
    };
    let (plain, other) = (planned(plain), planned(other));
    assert_eq!(plain.len(), 1);
    assert_eq!((&plain[0].id, &plain[0].label), (&other[0].id, &other[0].label));
}

#[test]
fn what_does_not_go_together_is_found_before_anything_runs() {
    let refused = |text: &str, expected: &str| {
        let suite = Suite::parse("s.toml", text).unwrap_or_else(|e| panic!("{e}"));
        let error = plan(&suite, "".as_ref(), &|_, _| None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&SOUND.replace("mlp-20", "resnet18"), "needs images of");
    refused(&format!("{SOUND}batch = 5000\n"), "`batch` is 5000, but there are only");
    refused(&SOUND.replace("digits", "mnist"), "mnist");
    refused(&format!("{SOUND}[decision]\ncritical = [10]\n"), "names class 10; the last is 9");
    let table = SOUND.replace("digits", "yacht");
    refused(&format!("{table}[decision]\ncritical = [1]\n"), "is for data sets of classes");
    refused(&format!("{table}[evaluate]\nood = [\"digits\"]\n"), "`digits` does not have the");
    refused(&format!("{table}[evaluate]\nshifts = [\"fog\"]\n"), "are for images");
}

/// A run on a GPU has other bytes than one on the processor, and so another id; what is said in full or left out has
/// the same one. Planning takes no GPU.
#[test]
fn the_device_is_part_of_what_a_run_is() {
    let ids = |head: &str| -> Vec<String> {
        let suite = Suite::parse("s.toml", &format!("{head}{SOUND}")).expect("a suite");
        let plan = plan(&suite, "none".as_ref(), &|_, _| None).expect("a plan");
        plan.runs.iter().map(|run| run.id.to_string()).collect()
    };
    let plain = ids("");
    assert_eq!(ids("device = \"cpu\"\nprecision = \"f32\"\n"), plain);
    let on_gpu =
        ["f32", "tf32", "bf16"].map(|p| ids(&format!("device = \"cuda\"\nprecision = \"{p}\"\n")));
    let all: std::collections::BTreeSet<&String> = on_gpu.iter().flatten().chain(&plain).collect();
    assert_eq!(all.len(), 8, "two seeds on four engines");
}
