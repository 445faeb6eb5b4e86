//! Names that users give, which may become part of a file's name.

use crate::checked::checked_text;

checked_text! {
    /// Name of a study or label of a method: 1 to 200 bytes of text, without control characters, `/` and
    /// `\`, and without a dot or a space at its beginning or a space at its end. So it is a valid file name
    /// with any extension, on any system that matters, and never a path.
    Name
}

/// File names have at most 255 bytes; the rest is for extensions and prefixes.
const LONGEST: usize = 200;

impl Name {
    /// The name with a suffix.
    pub(crate) fn then(&self, suffix: &str) -> Result<Self, String> {
        Self::try_from(format!("{}{suffix}", self.0))
    }
}

/// The same text with everything that may not stand in a file name replaced by `-`.
pub(crate) fn as_file_name(text: &str) -> String {
    text.replace(|c: char| c == ':' || is_refused(c), "-")
}

fn is_refused(c: char) -> bool {
    // The two separators of Unicode break lines, in JavaScript among others.
    c.is_control() || matches!(c, '/' | '\\' | '\u{2028}' | '\u{2029}')
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = if text.is_empty() {
            "is empty".to_string()
        } else if text.len() > LONGEST {
            let start: String = text.chars().take(20).collect();
            return Err(format!(
                "the name {start:?}... has {} bytes; it may have {LONGEST}",
                text.len()
            ));
        } else if let Some(refused) = text.chars().find(|&c| is_refused(c)) {
            format!("holds {refused:?}")
        } else if text.starts_with('.') {
            "begins with a dot".to_string()
        } else if text.trim() != text {
            "begins or ends with a space".to_string()
        } else {
            return Ok(Self(text));
        };
        Err(format!(
            "the name {text:?} {wrong}, which is not allowed in file names; choose another"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        let long = "x".repeat(LONGEST + 1);
        for text in [
            "",
            ".",
            "..",
            "../../victim/package",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "two\nlines",
            "\u{1b}[31m",
            "\u{2028}",
            " a",
            "a ",
            ".hidden",
            &long,
        ] {
            assert!(Name::try_from(text.to_string()).is_err(), "{text:?}");
            assert!(serde_json::from_value::<Name>(text.into()).is_err(), "{text:?}");
        }
        for text in ["quick", "sgd, lr = 0.1, momentum = 0.5", "Größe 3", "constructor", "a..b"] {
            assert_eq!(&*Name::try_from(text.to_string()).unwrap(), text);
        }
    }

    #[test]
    fn what_may_not_stand_in_a_file_name_is_replaced() {
        assert_eq!(as_file_name("fashion8:test"), "fashion8-test");
        assert_eq!(as_file_name("yacht:standard/0"), "yacht-standard-0");
        assert_eq!(as_file_name("../../x\n"), "..-..-x-");
    }
}
