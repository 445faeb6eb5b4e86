//! How much memory there is, and how much a run takes.

use std::fs;
use std::path::{Path, PathBuf};

use dubio_data::dataset::Dataset;
use dubio_data::sets::{self, Counts, InputKind, Part, Set, Task};
use dubio_infer::recipe::Recipe;
use dubio_infer::room::{activations, examples_together};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_nn::{Device, networks};

use crate::evaluation::Evaluation;
use crate::plan::{PlannedRun, network_for};

/// The program itself, its threads and what its allocator keeps.
const PROGRAM: u64 = 24 << 20;
/// Vectors, as long as all parameters, that a chain has, and the copies a checkpoint is written from: the
/// parameters, gradient, velocity and one more; each also as f64, as bytes and inside the file.
const VECTORS: f64 = 4.0 * 5.0;

/// Bytes that may still be taken: what the system has, or less where a control group or `ulimit -v`
/// allows less. `None` where the system does not tell.
pub fn available_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = 1024 * line.split_whitespace().next()?.parse::<u64>().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = left_by_groups(&groups, Path::new("/sys/fs/cgroup"));
    [Some(free), groups, left_by_limit()].into_iter().flatten().min()
}

/// What the limit on this process's own memory (`ulimit -v`) leaves; `None` where there is none.
pub fn left_by_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?; // `unlimited` is none
    Some(limit.saturating_sub(of_this_process("VmSize:")?))
}

/// Most memory that this process has held, where the system tells.
pub(crate) fn peak_bytes() -> Option<u64> {
    of_this_process("VmHWM:")
}

fn of_this_process(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(1024 * kilobytes)
}

/// The least that any group above this process leaves.
fn left_by_groups(groups: &str, root: &Path) -> Option<u64> {
    let mut left = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, version) = match kinds {
            "" => (root.to_path_buf(), &UNIFIED),
            _ if kinds.split(',').any(|kind| kind == "memory") => (root.join("memory"), &OLD),
            _ => continue,
        };
        let folder = root.join(path.trim_start_matches('/'));
        let above = folder.ancestors().take_while(|folder| folder.starts_with(&root));
        left.extend(above.filter_map(|folder| version.left(folder)));
    }
    left.into_iter().min()
}

/// Names of a group's files.
struct Version {
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

const UNIFIED: Version =
    Version { limit: "memory.max", used: "memory.current", reclaimable: "inactive_file " };
const OLD: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

impl Version {
    fn left(&self, folder: &Path) -> Option<u64> {
        let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let limit = number(folder.join(self.limit))?; // `max` is no limit
        let used = number(folder.join(self.used))?;
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cached = stat.lines().find_map(|line| line.strip_prefix(self.reclaimable));
        let cached: u64 = cached.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(cached)))
    }
}

/// Bytes that a run takes at most, roughly: its data, its samples, its network's activations, its
/// predictions and its curvature, and a fifth more. Peaks on MNIST were 0.7 to 0.98 of it, those of convolutions,
/// whose buffers are not all used, 0.25 to 0.5.
pub fn estimate(run: &PlannedRun) -> u64 {
    let settings = &run.settings;
    let Ok(halves) = sets::halves(&settings.data) else { return PROGRAM };
    let set = halves.name.set;
    let (numbers, stored) = width(set);
    // The data as read, and as the network reads them. All sums are f64, which has room for any product.
    let train = run.cost.examples as f64 * numbers * (stored + 4.0);
    let tested = examples(set, halves.test);
    let ood = settings.predict.iter().filter_map(|evaluation| match evaluation {
        Evaluation::Ood { data, .. } => {
            let name = sets::parse(data).ok()?;
            Some(examples(name.set, name.part.unwrap_or(Part::Test)))
        }
        _ => None,
    });
    let largest = ood.max().unwrap_or(0).max(tested);
    let test = (tested + largest) as f64 * numbers * stored + 4.0 * largest as f64 * numbers;
    let Samples { samples, points, vectors } = Samples::of(&settings.recipe);
    let vectors = (points + VECTORS + 2.0 * vectors) * 4.0;
    let outputs = outputs(set);
    let looks = settings.predict.iter().map(|evaluation| match evaluation {
        Evaluation::TestTime { looks, .. } => *looks,
        _ => 1,
    });
    let looks = looks.max().unwrap_or(1) as f64;
    // Gathered sample by sample, and then put together.
    let predictions = 2.0 * 4.0 * samples * looks * largest as f64 * outputs as f64;
    let of_network = network_of(run).map_or(0.0, |network| {
        let together = examples_together(&network).min(run.cost.examples);
        let batch = settings.recipe.setup.batch.max(together) as f64;
        // The output of every layer, and its gradient; with a GPU both are kept there.
        let here = if settings.device == Device::Cpu { activations(&network) } else { 0.0 };
        4.0 * batch * 2.0 * here + factors(&settings.recipe, &network)
    });
    let all = train + test + vectors * run.cost.parameters as f64 + predictions + of_network;
    PROGRAM + (1.2 * all) as u64
}

/// The network of a run, as its method builds it; `None` where it cannot be built.
pub(crate) fn network_of(run: &PlannedRun) -> Option<Network> {
    let settings = &run.settings;
    let set = sets::halves(&settings.data).ok()?.name.set;
    let method = &settings.recipe.method;
    let plain = networks::build(&settings.network, shape(set), outputs(set)).ok()?;
    Some(method.network(method.resized(plain)))
}

/// Checks that there is memory for what training and predicting cannot do without: the vectors of a chain,
/// the posterior samples, what a network keeps of the examples that it looks at together, and predictions
/// of `tested` examples. What the network keeps may be on a GPU.
pub fn enough(
    recipe: &Recipe,
    network: &str,
    train: &Dataset,
    tested: usize,
    on_gpu: bool,
) -> Result<(), String> {
    let Some(there) = available_bytes() else { return Ok(()) };
    let network = network_for(network, train, recipe)?;
    let Samples { samples, points, vectors } = Samples::of(recipe);
    let vectors = (points + 3.0 + vectors) * network.parameters() as f64;
    let batch = recipe.setup.batch.max(examples_together(&network).min(train.len())) as f64;
    let here = if on_gpu { 0.0 } else { batch * activations(&network) };
    let predictions = samples * tested as f64 * network.output().size() as f64;
    let factors = factors(recipe, &network);
    if factors > there as f64 {
        let [factors, there] = [factors, there as f64].map(|bytes| (bytes / 1e6).ceil());
        return Err(format!(
            "{} needs {factors} MB for the curvature of {} parameters, and {there} MB are free; use a coarser \
             `structure` or fewer `features`, whichever the method has, fewer `layers` or a smaller network",
            recipe.method.card().name,
            network.parameters()
        ));
    }
    let bytes = 4.0 * (vectors + here + predictions) + factors;
    if bytes <= there as f64 {
        return Ok(());
    }
    let [bytes, there] = [bytes, there as f64].map(|bytes| (bytes / 1e6).ceil());
    Err(format!(
        "{samples} posterior samples of {} parameters need at least {bytes} MB, and {there} MB are free; \
         use a smaller network, fewer `samples` or fewer `members`",
        network.parameters()
    ))
}

/// Bytes that a recipe needs for factors of a covariance; members work on theirs side by side.
fn factors(recipe: &Recipe, network: &Network) -> f64 {
    let moving = recipe.setup.layers.range(&network.slices()).ok().flatten();
    let moving = moving.unwrap_or(0..network.parameters());
    recipe.method.bytes(network, &moving) * recipe.members() as f64
}

/// How much a method keeps.
pub(crate) struct Samples {
    /// Posterior samples, each of which predicts.
    pub(crate) samples: f64,
    /// Vectors of parameters that are behind them.
    pub(crate) points: f64,
    /// Vectors that a method keeps besides.
    pub(crate) vectors: f64,
}

impl Samples {
    pub(crate) fn of(recipe: &Recipe) -> Self {
        let (method, members) = (&recipe.method, recipe.members() as f64);
        Self {
            samples: method.samples() as f64 * members,
            points: method.points().max(1) as f64 * members,
            vectors: method.vectors() as f64,
        }
    }
}

/// Outputs of a network for a data set.
fn outputs(set: &Set) -> usize {
    match set.task {
        Task::Classification(classes) => classes.len(),
        Task::Regression(_) => 2,
        Task::Unlabelled => 0,
    }
}

/// Shape of an example.
fn shape(set: &Set) -> Shape {
    match set.inputs {
        InputKind::Images { channels, height, width, .. } => Shape::image(channels, height, width),
        InputKind::Features(width) => Shape::vector(width),
    }
}

/// Numbers of an example, and bytes of each as it is stored.
fn width(set: &Set) -> (f64, f64) {
    match set.inputs {
        InputKind::Images { channels, height, width, .. } => {
            ((channels * height * width) as f64, 1.0)
        }
        InputKind::Features(width) => (width as f64, 8.0),
    }
}

fn examples(set: &Set, part: Part) -> u64 {
    match (set.counts, part) {
        (Counts::Parts { train, .. }, Part::Train) => train as u64,
        (Counts::Parts { test, .. }, Part::Test) => test as u64,
        (Counts::Parts { train, test }, _) => (train + test) as u64,
        (Counts::Splits { rows, .. }, _) => rows as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;
    use crate::suite::Suite;
    use serde_json::{Map, Value, json};

    fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
        let folder = root.join(path);
        fs::create_dir_all(&folder).expect("made");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("written");
        }
    }

    #[test]
    fn the_least_that_a_group_above_leaves_counts_and_cached_files_do_not() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        group(root, "user", &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        group(
            root,
            "user/job",
            &[("memory.max", "max\n"), ("memory.current", "600\n"), ("memory.stat", "anon 1\n")],
        );
        assert_eq!(left_by_groups("0::/user/job\n", root), Some(300));
        group(root, "user", &[("memory.stat", "anon 400\ninactive_file 250\nactive_file 9\n")]);
        assert_eq!(left_by_groups("0::/user/job\n", root), Some(550));
        group(
            root,
            "memory/a",
            &[("memory.limit_in_bytes", "500"), ("memory.usage_in_bytes", "450")],
        );
        assert_eq!(left_by_groups("4:cpu,memory:/a\n0::/user/job\n", root), Some(50));
        assert_eq!(left_by_groups("3:cpuset:/\n", root), None);
        assert_eq!(left_by_groups("0::/elsewhere\n", root), None, "no limit");
    }

    fn recipe(name: &str, setting: &str, value: Value) -> Recipe {
        let settings = Map::from_iter([(setting.to_string(), value)]);
        Recipe::parse(name, settings).expect("a recipe")
    }

    /// `full` takes four matrices over all parameters, with 8 bytes a number: `4 * 8 * 4152010^2`. `sngp` takes
    /// four for each of ten classes, over its features and a bias: `10 * 4 * 8 * 16001^2`.
    #[cfg(target_os = "linux")]
    #[test]
    fn curvature_that_does_not_fit_is_refused_with_what_it_needs() {
        let digits = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
        let full = recipe("laplace", "structure", json!("full"));
        let said = enough(&full, "mlp-2000-2000", &digits, 10, false).expect_err("too much");
        let expected = "laplace needs 551653986 MB for the curvature of 4152010 parameters, and ";
        assert!(said.starts_with(expected), "{said}");
        assert!(
            said.contains("MB are free; use a coarser `structure` or fewer `features`"),
            "{said}"
        );
        let coarse = recipe("laplace", "structure", json!("diag"));
        assert_eq!(enough(&coarse, "mlp-20", &digits, 10, false), Ok(()));
        let process = recipe("sngp", "features", json!(16_000));
        let network = network_for("mlp-20", &digits, &process).expect("a network");
        assert_eq!(factors(&process, &network), 10.0 * 4.0 * 8.0 * 16_001_f64.powi(2));
    }

    /// The estimate includes the curvature: by it, runs are put side by side.
    #[test]
    fn the_curvature_is_in_the_estimate() {
        let of = |structure: &str| {
            let text = format!(
                "title = \"a\"\ndata = [\"digits\"]\nnetworks = [\"mlp-20\"]\n[[methods]]\n\
                 method = \"laplace\"\nstructure = \"{structure}\""
            );
            let suite = Suite::parse("a.toml", &text).expect("a suite");
            let plan = plan(&suite, Path::new(""), &|_, _| None).expect("a plan");
            estimate(&plan.runs[0]) as f64
        };
        // 64 inputs, 20 hidden units and 10 classes have 1510 weights and biases.
        let more = of("full") - of("diag");
        let expected = 1.2 * 8.0 * (4.0 * 1510.0_f64.powi(2) - 2.0 * 1510.0);
        assert!((more / expected - 1.0).abs() < 1e-6, "{more} {expected}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn there_is_memory_here() {
        assert!(available_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
