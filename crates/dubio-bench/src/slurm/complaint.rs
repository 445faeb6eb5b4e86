//! What Slurm complains about, read from its own words, which are all that it tells.

/// What Slurm complains about when it does not take a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The controller did not answer in time, so it may have taken the job all the same.
    TimedOut,
    /// The partition.
    Partition,
    /// The limit of time.
    Time,
    /// Generic resources.
    Resources,
    /// The account, or the quality of service.
    Account,
    /// Anything else.
    Other,
}

impl Complaint {
    /// The first that the words name.
    pub(super) fn of(words: &str) -> Self {
        let words = words.to_lowercase();
        let named = |any: &[&str]| any.iter().any(|word| words.contains(word));
        match () {
            () if named(&["timed out"]) => Self::TimedOut,
            () if named(&["partition"]) => Self::Partition,
            () if named(&["time"]) => Self::Time,
            () if named(&["gres", "generic resource"]) => Self::Resources,
            () if named(&["account", "qos"]) => Self::Account,
            () => Self::Other,
        }
    }

    /// What to do about a job that was refused.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Partition => "`sinfo` lists the partitions; name one with --partition",
            Self::Time => "give a time such as --time 2:00:00 that the partition allows",
            Self::Resources => {
                "`sinfo -o '%P %G'` lists the resources of each partition; name them with --gres"
            }
            Self::Account => "name yours with --sbatch '--account=NAME' or --sbatch '--qos=NAME'",
            Self::TimedOut | Self::Other => "change the options, or add lines with --sbatch",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_slow_is_no_limit_of_time() {
        // As slurm_strerror of Slurm 22.05 has them, after the words that sbatch puts before them.
        let failed = |what: &str| Complaint::of(&format!("Batch job submission failed: {what}"));
        let cases = [
            ("Socket timed out on send/recv operation", Complaint::TimedOut),
            ("Invalid partition name specified", Complaint::Partition),
            ("Requested time limit is invalid (missing or exceeds some limit)", Complaint::Time),
            ("Invalid generic resource (gres) specification", Complaint::Resources),
            ("Invalid account or account/partition combination specified", Complaint::Partition),
            ("Invalid qos specification", Complaint::Account),
            ("Requested node configuration is not available", Complaint::Other),
        ];
        for (what, complaint) in cases {
            assert_eq!(failed(what), complaint, "{what}");
        }
    }
}
