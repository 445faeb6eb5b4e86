//! Names as people type them: which known name is meant, and what an unknown one may mean.
//!
//! ```
//! use dubio_words::{counted, meant, nearest};
//!
//! assert_eq!(meant("MC_Dropout", ["sgd", "mc-dropout"]), Some("mc-dropout"));
//! assert_eq!(nearest("acuracy", ["accuracy", "ece"]).as_deref(), Some("`accuracy`"));
//! assert_eq!(counted(2, "class"), "2 classes");
//! ```

/// The known name that is meant by `name`, which may differ in letter case and have `-` for `_` or the
/// reverse: `MC_Dropout` is `mc-dropout`.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |c: u8| if c == b'_' { b'-' } else { c.to_ascii_lowercase() };
    let same = |known: &&str| name.bytes().map(letters).eq(known.bytes().map(letters));
    known.into_iter().find(same)
}

/// A count with its noun: `1 member`, `3 members`, `2 classes`, `5 entries`.
pub fn counted(number: usize, thing: &str) -> String {
    let several = match (thing.strip_suffix('y'), thing.ends_with('s')) {
        _ if number == 1 => thing.to_string(),
        (Some(stem), _) => format!("{stem}ies"),
        (None, true) => format!("{thing}es"),
        (None, false) => format!("{thing}s"),
    };
    format!("{number} {several}")
}

/// The nearest known name in backticks, or up to three equally near ones joined by "or"; `None`
/// when none is near enough to have been meant.
///
/// Nearness counts letters changed, lost, added or swapped with their neighbour: at most two, or a third
/// of the longer name's letters, and fewer than the shorter name has. There is no limit where one name
/// contains the other and the shorter has at least three letters. Of equally near names, those closest
/// in length win: letters are more often swapped than lost.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let length = name.chars().count();
    let mut ranked: Vec<((usize, usize), &str)> = known
        .into_iter()
        .map(|known| {
            let own = known.chars().count();
            ((strsim::osa_distance(name, known), own.abs_diff(length)), known)
        })
        .filter(|((distance, _), known)| {
            let own = known.chars().count();
            let (shorter, longer) = (own.min(length), own.max(length));
            let inside = shorter >= 3 && (name.contains(known) || known.contains(name));
            inside || (*distance <= (longer / 3).max(2) && *distance < shorter)
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    let best = ranked.first()?.0;
    let near = ranked.iter().take_while(|(rank, _)| *rank == best).take(3);
    Some(near.map(|(_, known)| format!("`{known}`")).collect::<Vec<_>>().join(" or "))
}

/// A message that no `what` has this name, with what may have been meant, or else with all known names.
pub fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("no {what} is called `{name}`; did you mean {near}?"),
        None => {
            let all: Vec<&str> = known.into_iter().collect();
            format!("no {what} is called `{name}`; there are {}", all.join(", "))
        }
    }
}

/// The same where there are too many names to list: the caller has looked for the nearest, and
/// `shown_by` is the command that shows all.
pub fn unknown_of_many(what: &str, name: &str, near: Option<String>, shown_by: &str) -> String {
    format!("no {what} is called `{name}`; {}", or_all(near, shown_by))
}

/// Advice alone: what may have been meant, and the command that shows all.
pub fn or_all(near: Option<String>, shown_by: &str) -> String {
    let near = near.map_or(String::new(), |near| format!("did you mean {near}? "));
    format!("{near}`{shown_by}` shows them all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        let of = |number| ["member", "class", "entry"].map(|thing| counted(number, thing));
        assert_eq!(of(1), ["1 member", "1 class", "1 entry"]);
        assert_eq!(of(0), ["0 members", "0 classes", "0 entries"]);
        assert_eq!(of(12), ["12 members", "12 classes", "12 entries"]);
    }

    #[test]
    fn a_swapped_letter_is_nearer_than_a_lost_one_and_a_far_name_is_not_guessed() {
        assert_eq!(nearest("sgdl", ["sgd", "sgld", "sghmc"]).as_deref(), Some("`sgld`"));
        assert_eq!(nearest("ecf", ["eca", "ecb", "nll"]).as_deref(), Some("`eca` or `ecb`"));
        assert_eq!(
            nearest("ensemble", ["deep-ensemble", "sgd"]).as_deref(),
            Some("`deep-ensemble`")
        );
        assert_eq!(nearest("foggy", ["fog", "snow"]).as_deref(), Some("`fog`"));
        assert_eq!(nearest("nowhere", ["power", "mnist"]), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn letter_case_and_hyphens_do_not_matter() {
        let known = ["mc-dropout", "gaussian_noise", "nll"];
        assert_eq!(meant("MC_Dropout", known), Some("mc-dropout"));
        assert_eq!(meant("gaussian-noise", known), Some("gaussian_noise"));
        assert_eq!(meant("NLL", known), Some("nll"));
        assert_eq!(meant("mcdropout", known), None);
    }

    #[test]
    fn names_are_listed_when_none_is_near() {
        assert_eq!(
            unknown("shift", "rain", ["fog", "snow"]),
            "no shift is called `rain`; there are fog, snow"
        );
        let near = |name| nearest(name, ["nll", "ece"]);
        let many = |name| unknown_of_many("score", name, near(name), "dubio list scores");
        assert_eq!(
            many("nl"),
            "no score is called `nl`; did you mean `nll`? `dubio list scores` shows them all"
        );
        assert_eq!(
            many("quality"),
            "no score is called `quality`; `dubio list scores` shows them all"
        );
    }
}
