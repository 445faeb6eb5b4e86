//! Calls of Slurm's programs.

use std::io;
use std::process::Command;

use super::Error;
use super::complaint::Complaint;

/// What a program of Slurm prints, or its complaint.
pub(super) fn ask(program: &'static str, arguments: &[String]) -> Result<String, Error> {
    let output = match Command::new(program).args(arguments).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::NoSlurm(program));
        }
        other => other?,
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = words(program, &output.stderr);
    Err(Error::Silent { program, complaint: Complaint::of(&words), words })
}

/// The lines of a complaint in one line, without the program's name before each.
fn words(program: &str, complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines = text.lines().map(|line| {
        let line = line.strip_prefix(program).unwrap_or(line);
        line.trim_start_matches(": ").trim_start_matches("error: ").trim()
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_becomes_one_line() {
        // As sbatch of Slurm 22.05 prints it.
        let complaint = b"sbatch: error: invalid partition specified: nowhere\n\
            sbatch: error: Batch job submission failed: Invalid partition name specified\n";
        assert_eq!(
            words("sbatch", complaint),
            "invalid partition specified: nowhere; Batch job submission failed: Invalid partition \
             name specified"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_said_to_be_missing() {
        let error = ask("sbatch-of-nowhere", &[]).unwrap_err();
        assert!(error.to_string().contains("`sbatch-of-nowhere` is not on the PATH"), "{error}");
    }
}
