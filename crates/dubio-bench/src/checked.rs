//! Texts that are checked when they are made, wherever they come from.

/// Makes a type of text from its `TryFrom<String>`, which checks it: serde reads it through that check and
/// writes it plainly, and otherwise it is used as the `str` that it holds.
macro_rules! checked_text {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(
            Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl From<$name> for String {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Padded where a table asks for it.
                self.0.fmt(f)
            }
        }
    };
}

pub(crate) use checked_text;
