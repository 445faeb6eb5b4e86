//! `dubio run --on slurm` against a real Slurm.
//!
//! `eval "$(.ci/slurm start FOLDER)"` starts one, and `.ci/slurm stop FOLDER` ends it. Without one the
//! tests are reported as ignored; with `DUBIO_SLURM=1`, as in `.ci/run`, they must run.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use small_study::{SUITE, Study, predictions, text};

/// Some seconds, so that there is time to disturb it.
const SLOW: &str = r#"
data = ["digits"]
networks = ["mlp-20"]
seeds = 1

[[methods]]
method = "sghmc"
burn_in = 6000
samples = 20
lr = 0.01
"#;

/// Hours, so that it is there until it is taken away.
fn endless() -> String {
    SLOW.replace("burn_in = 6000", "burn_in = 1000000")
}

fn main() -> std::process::ExitCode {
    let answers = |program: &str| Command::new(program).output().is_ok_and(|o| o.status.success());
    let there = answers("sinfo");
    let demanded = std::env::var("DUBIO_SLURM").is_ok_and(|v| v == "1");
    if !there {
        eprintln!(
            "note: `sinfo` does not answer: the tests on Slurm are ignored; start one with: \
             .ci/slurm install && eval \"$(.ci/slurm start /tmp/slurm)\""
        );
    }
    let trial = |name: &str, test: fn()| {
        let run =
            move || std::panic::catch_unwind(test).map_err(|cause| Failed::from(said(&cause)));
        Trial::test(name, run).with_ignored_flag(!there && !demanded)
    };
    let trials = vec![
        trial("here_and_through_slurm_the_same_bytes", here_and_through_slurm_the_same_bytes),
        trial(
            "a_requeued_task_goes_on_to_the_same_bytes",
            a_requeued_task_goes_on_to_the_same_bytes,
        ),
        trial("a_killed_task_is_told_and_run_again", a_killed_task_is_told_and_run_again),
        trial("a_cancelled_task_is_told_and_run_again", a_cancelled_task_is_told_and_run_again),
        trial("a_limit_of_time_is_told", a_limit_of_time_is_told),
        trial("watching_again_submits_nothing_twice", watching_again_submits_nothing_twice),
        trial("two_at_once_submit_nothing_twice", two_at_once_submit_nothing_twice),
        trial(
            "a_failing_run_is_told_and_the_others_kept",
            a_failing_run_is_told_and_the_others_kept,
        ),
        trial("what_slurm_refuses_is_told_in_its_words", what_slurm_refuses_is_told_in_its_words),
        trial(
            "a_study_on_a_gpu_asks_slurm_for_one_gpu_a_run",
            a_study_on_a_gpu_asks_slurm_for_one_gpu_a_run,
        ),
        trial("a_folder_that_nodes_do_not_see_is_told", a_folder_that_nodes_do_not_see_is_told),
        trial("a_controller_may_be_away_for_a_while", a_controller_may_be_away_for_a_while),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(4); // they wait more than they work
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn said(cause: &Box<dyn std::any::Any + Send>) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_string())).unwrap_or_default()
}

const ON_SLURM: [&str; 4] = ["run", "small.toml", "--on", "slurm"];

/// A study on Slurm; what is still queued at the end is taken away.
struct Cluster(Study);

impl Cluster {
    fn new(suite: &str) -> Self {
        Self(Study::new(suite))
    }

    /// Runs to the end.
    fn run(&self) -> Output {
        self.0.dubio(&ON_SLURM)
    }

    fn spawn(&self) -> Child {
        let mut command = self.0.command(&ON_SLURM);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dubio runs")
    }

    fn batch(&self, number: usize) -> PathBuf {
        self.0.runs().join(".slurm").join(number.to_string())
    }

    fn job(&self) -> String {
        std::fs::read_to_string(self.batch(1).join("job")).expect("a job")
    }

    /// Waits until the first task tells of progress.
    fn wait_for_progress(&self) {
        let progress = self.batch(1).join("0.progress");
        until("a task makes progress", || {
            std::fs::read_to_string(&progress).is_ok_and(|text| text.lines().count() > 2)
        });
    }

    fn ended(&self, child: Child) -> (Option<i32>, String) {
        let output = child.wait_with_output().expect("ended");
        (output.status.code(), text(&output.stderr))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for number in (1..).take_while(|&number| self.batch(number).exists()) {
            if let Ok(job) = std::fs::read_to_string(self.batch(number).join("job")) {
                let _ = Command::new("scancel").arg(job).status();
            }
        }
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(90), "not after 90 seconds: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn slurm(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("Slurm is there");
    assert!(output.status.success(), "{program} {arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn interrupt(child: &Child) {
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
}

fn same_as_here(cluster: &Cluster, suite: &str) {
    let here = Study::new(suite);
    here.run(&[]);
    let (expected, got) = (predictions(&here.runs()), predictions(&cluster.0.runs()));
    assert!(!expected.is_empty() && got == expected, "{} and {}", got.len(), expected.len());
}

fn here_and_through_slurm_the_same_bytes() {
    let cluster = Cluster::new(SUITE);
    // The limit is kept over both arrays: the second begins when the first has ended.
    let output = cluster.0.dubio(&[&ON_SLURM[..], &["--jobs", "3"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.trim_end().ends_with("small.html") && table.contains("2 of 2"), "{table}");
    assert!(cluster.batch(2).exists(), "six runs need two arrays where an array holds four");
    assert!(cluster.0.runs().join("small.html").is_file());
    same_as_here(&cluster, SUITE);
    let again = text(&cluster.run().stderr);
    assert!(again.contains("6 of 6 runs are finished already"), "{again}");
    assert!(!cluster.batch(3).exists(), "nothing finished is submitted again");
}

fn a_requeued_task_goes_on_to_the_same_bytes() {
    let cluster = Cluster::new(SLOW);
    let watcher = cluster.spawn();
    cluster.wait_for_progress();
    let task = format!("{}_0", cluster.job().trim());
    slurm("scontrol", &["requeue", &task]);
    until("the task is queued again", || {
        slurm("squeue", &["-h", "-r", "-j", &task, "-o", "%T"]).trim() == "PENDING"
    });
    let checkpoints = cluster.0.runs().join(".checkpoints");
    assert!(std::fs::read_dir(checkpoints).expect("kept").count() == 1, "it does not begin again");
    // Slurm itself would wait two minutes; within a second the node takes the task for the old one.
    std::thread::sleep(Duration::from_secs(3));
    slurm("scontrol", &["update", &format!("jobid={task}"), "StartTime=now"]);
    let (code, said) = cluster.ended(watcher);
    assert_eq!(code, Some(0), "{said}");
    let log = std::fs::read_to_string(cluster.batch(1).join("0.log")).expect("a log");
    assert!(log.contains("DUE TO JOB REQUEUE"), "{log}");
    same_as_here(&cluster, SLOW);
}

fn a_killed_task_is_told_and_run_again() {
    let cluster = Cluster::new(SLOW);
    let watcher = cluster.spawn();
    cluster.wait_for_progress();
    let folder = cluster.0.runs().display().to_string();
    let worker = slurm("pgrep", &["-f", &format!("work --runs {folder} ")]);
    slurm("kill", &["-9", worker.trim()]);
    let (code, said) = cluster.ended(watcher);
    assert_eq!(code, Some(2), "{said}");
    let expected = format!("task 0 of job {} was killed by signal 9", cluster.job().trim());
    assert!(said.contains(&expected) && said.contains("1 of 1 runs failed"), "{said}");
    assert!(text(&cluster.0.dubio(&["plan", "small.toml"]).stdout).contains("failed"));
    let output = cluster.run();
    assert!(output.status.success(), "{}", text(&output.stderr));
    same_as_here(&cluster, SLOW);
}

fn a_cancelled_task_is_told_and_run_again() {
    let cluster = Cluster::new(SLOW);
    let watcher = cluster.spawn();
    cluster.wait_for_progress();
    slurm("scancel", &[cluster.job().trim()]);
    let (code, said) = cluster.ended(watcher);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("was cancelled on"), "{said}");
    let output = cluster.run();
    assert!(output.status.success(), "{}", text(&output.stderr));
    same_as_here(&cluster, SLOW);
}

fn a_limit_of_time_is_told() {
    let cluster = Cluster::new(&endless());
    let watcher = cluster.spawn();
    cluster.wait_for_progress();
    // A minute is the least that can be asked for; none at all can be imposed.
    let task = format!("jobid={}_0", cluster.job().trim());
    slurm("scontrol", &["update", &task, "TimeLimit=0"]);
    let (code, said) = cluster.ended(watcher);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("reached its time limit") && said.contains("--time"), "{said}");
    assert!(cluster.0.runs().join(".checkpoints").exists());
}

fn watching_again_submits_nothing_twice() {
    let cluster = Cluster::new(SLOW);
    let watcher = cluster.spawn();
    cluster.wait_for_progress();
    interrupt(&watcher);
    let (code, said) = cluster.ended(watcher);
    assert_eq!(code, Some(130), "{said}");
    let job = cluster.job();
    for part in [
        "with 0 of 1 runs finished; the jobs continue".to_string(),
        "Watch again with: dubio run small.toml --on slurm".to_string(),
        format!("scancel {}", job.trim()),
    ] {
        assert!(said.contains(&part), "{said}");
    }
    let output = cluster.run();
    let said = text(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 of 1 runs are with Slurm already"),
        "{said}"
    );
    assert!(!cluster.batch(2).exists(), "{said}");
    same_as_here(&cluster, SLOW);
}

fn two_at_once_submit_nothing_twice() {
    let cluster = Cluster::new(SLOW);
    let (first, second) = (cluster.spawn(), cluster.spawn());
    for watcher in [first, second] {
        let (code, said) = cluster.ended(watcher);
        assert_eq!(code, Some(0), "{said}");
    }
    assert!(cluster.batch(1).exists() && !cluster.batch(2).exists());
    same_as_here(&cluster, SLOW);
}

fn a_failing_run_is_told_and_the_others_kept() {
    let suite = SUITE.replace("lr = 0.01", "lr = 1e6");
    let cluster = Cluster::new(&suite);
    let output = cluster.run();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("2 of 6 runs failed") && said.contains("smaller learning rate"),
        "{said}"
    );
    assert!(text(&output.stdout).contains("0 of 2"), "{}", text(&output.stdout));
    assert_eq!(predictions(&cluster.0.runs()).len(), 4 * 3);
    let again = text(&cluster.run().stderr);
    assert!(
        again.contains("4 of 6 runs are finished already")
            && again.contains("submitted 2 runs as job"),
        "{again}"
    );
}

fn what_slurm_refuses_is_told_in_its_words() {
    let cluster = Cluster::new(SLOW);
    for (option, value, words, advice) in [
        ("--partition", "nowhere", "invalid partition specified: nowhere", "`sinfo` lists"),
        ("--time", "soon", "Invalid --time specification", "such as --time 2:00:00"),
        ("--gres", "widget:1", "gres", "name them with --gres"),
        ("--gres", "gpu:9", "configuration is not available", "--sbatch"),
        ("--sbatch", "--mem=999999G", "Memory specification can not be satisfied", "--sbatch"),
        ("--sbatch", "mem=1G", "give one option of sbatch", "--sbatch '--mem=4G'"),
    ] {
        let output = cluster.0.dubio(&[&ON_SLURM[..], &[option, value]].concat());
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        let said = text(&output.stderr);
        assert!(said.contains(words) && said.contains(advice), "{said}");
    }
    assert!(!cluster.batch(1).exists(), "nothing is left behind");
}

/// Whether there is a GPU or not: Slurm keeps what a task asked for when the task has ended, too.
fn a_study_on_a_gpu_asks_slurm_for_one_gpu_a_run() {
    let asked = |options: &[&str]| {
        let cluster = Cluster::new(SUITE);
        cluster.0.dubio(&[&ON_SLURM[..], &["--only", "seed=0"], options].concat());
        let job = slurm("scontrol", &["--oneliner", "show", "job", cluster.job().trim()]);
        let gpus = job
            .lines()
            .map(|task| task.matches("gpu:1").count() + 2 * task.matches("gpu:2").count());
        gpus.collect::<Vec<_>>()
    };
    assert_eq!(asked(&["--device", "cuda"]), [1, 1, 1]);
    assert_eq!(asked(&["--device", "cuda", "--gres", "gpu:2"]), [2, 2, 2]);
    assert_eq!(asked(&[]), [0, 0, 0]);
}

/// Mounted for this process alone, as the disk of a machine that is not shared.
fn a_folder_that_nodes_do_not_see_is_told() {
    let cluster = Cluster::new(SUITE);
    std::fs::create_dir(cluster.0.runs()).expect("made");
    let mount =
        "mount -t tmpfs private runs && exec \"$0\" run small.toml --on slurm --only seed=0";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", mount, env!("CARGO_BIN_EXE_dubio")]);
    let output = command.current_dir(cluster.0.folder.path()).output().expect("unshare runs");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("all nodes must share"), "{said}");
    assert!(said.contains("3 of 3 runs failed"), "{said}");
}

/// `squeue` fails on the second to fourth call, as it does while a controller is restarted.
fn a_controller_may_be_away_for_a_while() {
    let cluster = Cluster::new(SLOW);
    let path = std::env::var("PATH").expect("a PATH");
    let folder = cluster.0.folder.path().join("bin");
    std::fs::create_dir(&folder).expect("made");
    let script = format!(
        "#!/bin/sh\necho >>'{0}/calls'\ncalls=$(wc -l <'{0}/calls')\n\
         if [ $calls -gt 1 ] && [ $calls -lt 5 ]; then\n\
         echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1\nfi\n\
         PATH='{path}' exec squeue \"$@\"\n",
        folder.display()
    );
    std::fs::write(folder.join("squeue"), script).expect("written");
    slurm("chmod", &["+x", &folder.join("squeue").display().to_string()]);
    let mut command = cluster.0.command(&ON_SLURM);
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output();
    let output = output.expect("dubio runs");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("Unable to contact slurm controller").count(), 1, "{said}");
}
