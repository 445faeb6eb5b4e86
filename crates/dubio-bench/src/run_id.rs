//! The name of a run's folder.

use sha2::{Digest, Sha256};

use crate::checked::checked_text;

checked_text! {
    /// Sixteen lower-case hexadecimal digits. A run's name is nothing else, whether it comes from a folder, a
    /// record from elsewhere or a worker's standard input, so it never leads out of the folder of runs.
    RunId
}

/// Digits of an id.
const DIGITS: usize = 16;

impl RunId {
    /// The id of these settings, written out: the first digits of their SHA-256.
    pub(crate) fn of(settings: &str) -> Self {
        let digest = Sha256::digest(settings.as_bytes());
        Self(digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect())
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match digits && text.len() == DIGITS {
            true => Ok(Self(text)),
            false => Err(format!("{text:?} is not a run ID, which is {DIGITS} hexadecimal digits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_sixteen_digits_is_an_id() {
        let id = RunId::of("settings");
        assert_eq!(RunId::try_from(id.to_string()), Ok(id.clone()));
        let above = format!("{id}/../../victim");
        let others = ["", ".", "..", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF"];
        for text in others.into_iter().chain([&above[..], "/123456789abcdef", "0123456789abcde\n"])
        {
            assert!(RunId::try_from(text.to_string()).is_err(), "{text}");
            assert!(serde_json::from_value::<RunId>(text.into()).is_err(), "{text}");
        }
    }
}
