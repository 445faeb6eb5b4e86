//! Names from elsewhere, made safe to show: in a terminal, on a page, on paper.

use std::borrow::Cow;

/// Whether a character does something instead of being seen: it moves the cursor, rings, changes the
/// direction of what follows, or ends a line where no reader sees it end.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with every such character but the newline written out, `\u001b`, as JSON would write it.
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, |c| c != '\n' && is_unseen(c))
}

/// The same without newlines: a name that has to stay in its line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    written_out(text, is_unseen)
}

fn written_out(text: &str, is: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is) {
        return text.into();
    }
    let one = |c: char| match is(c) {
        true => format!("\\u{:04x}", c as u32),
        false => c.to_string(),
    };
    text.chars().map(one).collect::<String>().into()
}

/// Names of properties that every JavaScript object has. The drawing library keeps names in plain
/// objects, and takes these for names that it has already seen.
const TAKEN: [&str; 12] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
];

/// A name as figures have it: in one line, and with a space behind it where it would be taken for a
/// property. What looks for a name in a figure must look for this.
pub(crate) fn drawn(name: &str) -> Cow<'_, str> {
    match TAKEN.contains(&name) {
        true => format!("{name} ").into(),
        false => one_line(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(one_line("a\u{1b}[2J\n\u{9b}\u{202e}b"), "a\\u001b[2J\\u000a\\u009b\\u202eb");
        assert_eq!(visible("a\nb"), "a\nb");
        assert!(matches!(one_line("größer — 模型"), Cow::Borrowed("größer — 模型")));
    }
}
