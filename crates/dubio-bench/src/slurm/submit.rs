//! Hands runs to Slurm, those that it does not have yet.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use dubio_infer::lock;

use super::ask::ask;
use super::batch::{Batch, home};
use super::complaint::Complaint;
use super::queue::Queue;
use super::{Error, Options};
use crate::executor::StudyProgress;
use crate::local::QUEUES;
use crate::plan::PlannedRun;
use crate::run_id::RunId;
use crate::store::Store;

/// The worker that does a run, on any node.
#[derive(Clone, Copy, Debug)]
pub struct Worker<'a> {
    /// The program, `dubio` itself.
    pub program: &'a Path,
    /// Folder of the data sets.
    pub data: &'a Path,
}

/// A run that Slurm has.
#[derive(Clone, Debug)]
pub struct Submitted {
    pub(super) batch: Batch,
    pub(super) index: usize,
    /// Number of the array job.
    pub job: String,
}

/// Hands over the runs that Slurm does not have yet. Returns for each run where it is, or why Slurm does
/// not take it; an error when Slurm takes none.
pub fn submit(
    runs: &[&PlannedRun],
    store: &Store,
    worker: Worker<'_>,
    options: &Options,
    progress: &dyn StudyProgress,
) -> Result<Vec<Result<Submitted, String>>, Error> {
    let header = header(options)?;
    // Two of these at once would both find a run missing, and submit it twice.
    let lock = lock::open(&home(store)?.join("lock"))?;
    lock.lock()?;
    let mut with_slurm = queued(store)?;
    let known = runs.iter().filter(|run| with_slurm.contains_key(&run.id)).count();
    if known > 0 {
        progress.note(&format!("{known} of {} runs are with Slurm already", runs.len()));
    }
    // After the queue was asked: a run that has ended since then is found finished.
    let to_do =
        |run: &&PlannedRun| !with_slurm.contains_key(&run.id) && !store.is_finished(&run.id);
    let missing: Vec<&PlannedRun> = runs.iter().copied().filter(to_do).collect();
    let mut refused = String::new();
    let mut before = None;
    for some in missing.chunks(largest_array()) {
        let job = Job { header: &header, worker, options, before: before.clone() };
        match job.submit(some, store) {
            Ok(submitted) => {
                let job = &submitted[0].job;
                let count = match some.len() {
                    1 => "1 run".to_string(),
                    several => format!("{several} runs"),
                };
                progress.note(&format!("submitted {count} as job {job}"));
                before = Some(job.clone());
                with_slurm.extend(some.iter().map(|run| run.id.clone()).zip(submitted));
            }
            Err(error) if with_slurm.is_empty() => return Err(error),
            Err(error) => {
                refused = error.to_string();
                progress.note(&refused);
                break;
            }
        }
    }
    Ok(runs.iter().map(|run| with_slurm.remove(&run.id).ok_or_else(|| refused.clone())).collect())
}

/// Runs that were handed over before and have not ended, by id.
fn queued(store: &Store) -> Result<HashMap<RunId, Submitted>, Error> {
    let batches = Batch::all(store)?;
    let mut found = HashMap::new();
    if batches.is_empty() {
        return Ok(found);
    }
    let queue = Queue::ask()?;
    for batch in batches {
        for (index, id) in batch.runs.iter().enumerate() {
            if let Some(task) = queue.get(&batch.name, index) {
                let (batch, job) = (batch.clone(), task.job.clone());
                found.insert(id.clone(), Submitted { batch, index, job });
            }
        }
    }
    Ok(found)
}

/// Tasks that one array may have, as this cluster is set up.
fn largest_array() -> usize {
    let config = ask("scontrol", &["show".to_string(), "config".to_string()]).unwrap_or_default();
    let line = config.lines().find_map(|line| line.strip_prefix("MaxArraySize"));
    let size = line.and_then(|rest| rest.trim_start_matches([' ', '=']).trim().parse().ok());
    size.filter(|&size| size > 0).unwrap_or(1001) // Slurm's own default
}

/// The lines that the user adds. They stand in the script, so that options a study depends on, which are
/// given to `sbatch` itself, take precedence.
fn header(options: &Options) -> Result<String, Error> {
    let mut header = "#SBATCH --requeue\n#SBATCH --ntasks=1\n".to_string();
    for given in &options.lines {
        let line = given.trim().strip_prefix("#SBATCH").unwrap_or(given).trim();
        if !line.starts_with('-') || line.contains(['\n', '\r']) {
            return Err(Error::Line(given.clone()));
        }
        header += &format!("#SBATCH {line}\n");
    }
    Ok(header)
}

struct Job<'a> {
    header: &'a str,
    worker: Worker<'a>,
    options: &'a Options,
    /// The array before this one.
    before: Option<String>,
}

impl Job<'_> {
    fn submit(&self, runs: &[&PlannedRun], store: &Store) -> Result<Vec<Submitted>, Error> {
        for run in runs {
            store.forget_failure(&run.id)?; // what it says is of another attempt
        }
        let batch = Batch::create(store, runs)?;
        let script = batch.folder.join("job.sh");
        fs::write(&script, self.script(&batch, store)?)?;
        let mut arguments = self.arguments(&batch);
        arguments.push(script.display().to_string());
        let answer = ask("sbatch", &arguments).map_err(|error| refusal(error, &batch))?;
        // `NUMBER`, or `NUMBER;CLUSTER`.
        let job = answer.trim().split(';').next().unwrap_or_default().to_string();
        fs::write(batch.folder.join("job"), &job)?;
        let submitted = |index| Submitted { batch: batch.clone(), index, job: job.clone() };
        Ok((0..runs.len()).map(submitted).collect())
    }

    fn arguments(&self, batch: &Batch) -> Vec<String> {
        let limit = self.options.jobs.map_or(String::new(), |jobs| format!("%{jobs}"));
        // A `%` in the folder's name is not for Slurm to fill in.
        let folder = batch.folder.display().to_string().replace('%', "%%");
        let mut arguments = vec![
            "--parsable".to_string(),
            format!("--job-name={}", batch.name),
            format!("--array=0-{}{limit}", batch.runs.len() - 1),
            format!("--output={folder}/%a.log"),
            "--open-mode=append".to_string(), // a task that is requeued goes on with its log
        ];
        let Options { partition, time, gres, .. } = self.options;
        for (name, value) in [("partition", partition), ("time", time), ("gres", gres)] {
            arguments.extend(value.iter().map(|value| format!("--{name}={value}")));
        }
        // The limit applies to one array alone, so several arrays go one after the other.
        if let (Some(before), Some(_)) = (&self.before, self.options.jobs) {
            arguments.push(format!("--dependency=afterany:{before}"));
        }
        arguments
    }

    /// The task is the worker itself and no child of the shell, so that it is the worker that Slurm
    /// asks to stop.
    fn script(&self, batch: &Batch, store: &Store) -> Result<String, Error> {
        let [program, data, runs] = [self.worker.program, self.worker.data, store.folder()]
            .map(|path| std::path::absolute(path).map(|path| quoted(&path)));
        let task = format!("{}/\"$SLURM_ARRAY_TASK_ID\"", quoted(&batch.folder));
        let [queues, most] = QUEUES;
        Ok(format!(
            "#!/bin/sh\n{}export RAYON_NUM_THREADS=\"${{SLURM_CPUS_PER_TASK:-1}}\"\n\
             export {queues}=\"${{{queues}:-{most}}}\"\n\
             exec {} work --runs {} --dir {} <{task}.json >{task}.progress\n",
            self.header, program?, runs?, data?
        ))
    }
}

/// A refused batch is taken away again, unless Slurm may have it after all.
fn refusal(error: Error, batch: &Batch) -> Error {
    match error {
        // The batch stays: where Slurm has it, the next attempt finds it in the queue.
        Error::Silent { complaint: Complaint::TimedOut, .. } => error,
        other => {
            let _ = fs::remove_dir_all(&batch.folder); // where it stays it does no harm
            match other {
                Error::Silent { words, complaint, .. } => {
                    Error::Refused { words, advice: complaint.advice() }
                }
                other => other,
            }
        }
    }
}

/// A path as the shell takes it for one word.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_user_stand_in_the_script_in_their_order() {
        let lines = ["--mem=4G", "#SBATCH -A physics", "  --qos=low --nice "].map(String::from);
        let options = Options { lines: lines.to_vec(), ..Options::default() };
        assert_eq!(
            header(&options).unwrap_or_else(|e| panic!("{e}")),
            "#SBATCH --requeue\n#SBATCH --ntasks=1\n#SBATCH --mem=4G\n#SBATCH -A physics\n\
             #SBATCH --qos=low --nice\n"
        );
        for bad in ["", "mem=4G", "--mem=4G\nrm -r x", "#SBATCH"] {
            let options = Options { lines: vec![bad.to_string()], ..Options::default() };
            let said = header(&options).unwrap_err().to_string();
            assert!(said.contains("give one option of sbatch"), "{said}");
        }
    }

    #[test]
    fn a_batch_that_slurm_may_have_stays_and_a_refused_one_goes() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("1");
        let batch = Batch { folder: folder.clone(), name: "dubio-x".to_string(), runs: Vec::new() };
        let refused = |complaint| {
            fs::create_dir_all(&folder).expect("a folder");
            let silent =
                Error::Silent { program: "sbatch", words: "no time".to_string(), complaint };
            refusal(silent, &batch).to_string()
        };
        let said = refused(Complaint::TimedOut);
        assert!(folder.exists() && said.contains("try again when `sinfo` answers"), "{said}");
        let said = refused(Complaint::Time);
        assert!(!folder.exists() && said.contains("give a time such as"), "{said}");
    }

    #[test]
    fn quotes_in_a_path_stay_what_they_are() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
