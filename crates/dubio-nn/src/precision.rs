//! How precisely a GPU multiplies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How precisely a GPU multiplies matrices. Everything else is in single precision, and so are all sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// TensorFloat-32: factors are rounded to 10 bits of mantissa.
    Tf32,
    /// bfloat16: factors are rounded to 7 bits of mantissa.
    Bf16,
}

impl Precision {
    /// Every name.
    pub const NAMES: [&str; 3] = ["f32", "tf32", "bf16"];
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::F32, Self::Tf32, Self::Bf16];
        let found = all.into_iter().find(|one| one.to_string().eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("no precision is called `{name}`; use f32, tf32 or bf16"))
    }
}
