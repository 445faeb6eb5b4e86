//! What became of a task that left the queue without a result.

use std::fs;

use super::Submitted;
use super::ask::ask;

/// The end of a task, in Slurm's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// `CANCELLED`, `TIMEOUT`, `FAILED`; empty when Slurm has forgotten it.
    state: String,
    /// Exit code and signal, `1:0`.
    exit: String,
    /// The node that it was on.
    node: String,
}

impl Fate {
    /// Asks the controller, which forgets a job after some minutes, and then the accounts, which not
    /// every cluster keeps.
    pub(super) fn of(task: &Submitted) -> Self {
        let id = format!("{}_{}", task.job, task.index);
        let shown = ask("scontrol", &["--oneliner", "show", "job", &id].map(String::from));
        let ours = format!(" JobName={} ", task.batch.name); // numbers are used again
        if let Some(line) = shown.iter().flat_map(|text| text.lines()).find(|l| l.contains(&ours)) {
            return Self::shown(line);
        }
        let fields = "--format=State,ExitCode,NodeList";
        let arguments = ["--noheader", "--parsable2", "--allocations", "--jobs", &id, fields];
        let listed = ask("sacct", &arguments.map(String::from)).unwrap_or_default();
        listed.lines().last().map(Self::listed).unwrap_or_default()
    }

    fn shown(line: &str) -> Self {
        let field = |name: &str| {
            let mut words = line.split_whitespace();
            words.find_map(|word| word.strip_prefix(name)).unwrap_or_default().to_string()
        };
        let node = field("BatchHost=");
        Self { state: field("JobState="), exit: field("ExitCode="), node }
    }

    fn listed(line: &str) -> Self {
        let mut fields = line.split('|').map(String::from);
        let mut next = || fields.next().unwrap_or_default();
        let (state, exit, node) = (next(), next(), next());
        // `CANCELLED by 1000`
        let state = state.split(' ').next().unwrap_or_default().to_string();
        Self { state, exit, node }
    }

    /// Whether the task itself says that all is well.
    pub(super) fn is_completed(&self) -> bool {
        self.state == "COMPLETED"
    }

    /// What to tell the user about it, and what to do.
    pub(super) fn told(&self, task: &Submitted) -> String {
        let folder = task.batch.folder.display();
        let job = format!("task {} of job {}", task.index, task.job);
        let node = if self.node.is_empty() { String::new() } else { format!(" on {}", self.node) };
        match (&self.state[..], &self.exit[..]) {
            ("", _) => format!("{job} is gone, and Slurm no longer knows why{}", log(task)),
            ("TIMEOUT", _) => format!(
                "{job} reached its time limit; the same command resumes from its checkpoint, and --time raises the limit"
            ),
            ("OUT_OF_MEMORY", _) => format!(
                "{job} used more memory than it was allocated{node}; give more, as in \
                 --sbatch '--mem=8G'"
            ),
            // Slurm could not open the log.
            (_, "0:53") => format!(
                "{job} could not write to {folder}{node}; all nodes must share the folder of runs; name one with --runs"
            ),
            ("COMPLETED", _) => format!(
                "{job} finished{node}, but its result is not here; all nodes must share the folder of runs; name one with --runs"
            ),
            ("CANCELLED", _) => format!("{job} was cancelled{node}"),
            ("FAILED", exit) => format!("{job} {}{node}{}", how(exit), log(task)),
            (state, exit) => format!("{job} ended as {state}, it {}{node}{}", how(exit), log(task)),
        }
    }
}

/// `CODE:SIGNAL` in words.
fn how(exit: &str) -> String {
    match exit.split_once(':') {
        Some((code, "0")) => format!("ended with exit code {code}"),
        Some((_, signal)) => format!("was killed by signal {signal}"),
        None => "ended".to_string(),
    }
}

/// The last line of a task's log, and where the rest is.
fn log(task: &Submitted) -> String {
    let path = task.batch.log(task.index);
    let text = fs::read_to_string(&path).unwrap_or_default();
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!(": {}; its log is {}", line.trim(), path.display()),
        None => "; it left no log".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_and_the_accounts_are_understood_alike() {
        let expected = Fate {
            state: "CANCELLED".to_string(),
            exit: "0:15".to_string(),
            node: "node7".to_string(),
        };
        let shown = "JobId=2 ArrayJobId=1 ArrayTaskId=0 JobName=dubio-xx JobState=CANCELLED \
                     Reason=None Dependency=(null) ExitCode=0:15 NodeList=node7 BatchHost=node7 ";
        assert_eq!(Fate::shown(shown), expected);
        assert_eq!(Fate::listed("CANCELLED by 1000|0:15|node7"), expected);
        assert_eq!(Fate::listed(""), Fate::default());
    }
}
