//! What Slurm has in its queue.

use std::collections::HashMap;

use super::Error;
use super::ask::ask;

/// A task that is queued or under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queued {
    /// Number of the array job.
    pub(super) job: String,
    /// In Slurm's words: `PENDING`, `RUNNING`, `COMPLETING`.
    pub(super) state: String,
    /// Why it is pending.
    pub(super) reason: String,
}

impl Queued {
    pub(super) fn waits(&self) -> bool {
        self.state == "PENDING"
    }
    pub(super) fn runs(&self) -> bool {
        self.state == "RUNNING"
    }
}

/// All tasks of this user that have not ended, by the job's name and the task's index.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(HashMap<(String, usize), Queued>);

impl Queue {
    /// Asks Slurm.
    pub(super) fn ask() -> Result<Self, Error> {
        // Array job, index, state, reason, name; a line for every task.
        let arguments = ["--me", "--noheader", "--array", "--format=%F|%K|%T|%r|%j"];
        Ok(Self::parse(&ask("squeue", &arguments.map(String::from))?))
    }

    fn parse(text: &str) -> Self {
        let task = |line: &str| {
            let mut fields = line.splitn(5, '|');
            let job = fields.next()?.to_string();
            let index = fields.next()?.parse().ok()?; // `N/A` for what is no array
            let (state, reason) = (fields.next()?.to_string(), fields.next()?.to_string());
            Some(((fields.next()?.to_string(), index), Queued { job, state, reason }))
        };
        Self(text.lines().filter_map(task).collect())
    }

    pub(super) fn get(&self, name: &str, index: usize) -> Option<&Queued> {
        self.0.get(&(name.to_string(), index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_name_and_index_among_other_jobs() {
        // As squeue of Slurm 22.05 prints it.
        let queue = Queue::parse(
            "1|3|PENDING|JobArrayTaskLimit|dubio-xx\n1|0|RUNNING|None|dubio-xx\n\
             9|N/A|RUNNING|None|a|b\nnonsense\n",
        );
        let task = queue.get("dubio-xx", 3).expect("queued");
        assert!(task.waits() && !task.runs());
        assert_eq!((&task.job[..], &task.reason[..]), ("1", "JobArrayTaskLimit"));
        assert!(queue.get("dubio-xx", 0).expect("queued").runs());
        assert!(queue.get("dubio-xx", 1).is_none() && queue.get("dubio-yy", 0).is_none());
    }
}
