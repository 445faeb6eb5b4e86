//! Where data sets lie on this machine.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;
use crate::sets::own::is_own;
use crate::sets::{Files, Set, find};

/// The folder that `DUBIO_DATA` names, or else the platform's place for a user's data.
pub fn data_folder() -> Result<PathBuf, Error> {
    locate(|name| std::env::var_os(name), std::env::consts::OS).ok_or_else(|| {
        let advice = "set DUBIO_DATA to a folder with free space";
        Error::new("DUBIO_DATA", "neither it nor a home folder is set", advice)
    })
}

/// The same for a set to be read from there. A user's own files, and what is part of the program, need no folder.
pub fn folder_of(set: &Set) -> Result<PathBuf, Error> {
    match matches!(set.files, Files::Own) || set.is_embedded() {
        true => Ok(data_folder().unwrap_or_else(|_| PathBuf::from("."))),
        false => data_folder(),
    }
}

/// The same for several sets by their names, parts included.
pub fn folder_of_all<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<PathBuf, Error> {
    for name in names.into_iter().filter(|name| !is_own(name)) {
        folder_of(find(name.split(':').next().unwrap_or(name))?)?;
    }
    Ok(data_folder().unwrap_or_else(|_| PathBuf::from(".")))
}

/// `$DUBIO_DATA`; `%APPDATA%\dubio`; `~/Library/Application Support/dubio`;
/// `$XDG_DATA_HOME/dubio`; `~/.local/share/dubio`. An empty variable counts as unset.
fn locate(variable: impl Fn(&str) -> Option<OsString>, system: &str) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(chosen) = folder("DUBIO_DATA") {
        return Some(chosen);
    }
    let data = match system {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        // The XDG specification says that relative paths are ignored.
        _ => folder("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| folder("HOME").map(|home| home.join(".local/share"))),
    };
    data.map(|data| data.join("dubio"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(system: &str, variables: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name);
        locate(|name| find(name).map(|(_, value)| value.into()), system)
    }

    #[test]
    fn what_the_user_chose_comes_first_and_then_the_platforms_own_place() {
        let home = ("HOME", "/home/ada");
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(located("linux", &[home, ("DUBIO_DATA", "/big")]), path("/big"));
        assert_eq!(
            located("linux", &[home, ("DUBIO_DATA", "")]),
            path("/home/ada/.local/share/dubio")
        );
        assert_eq!(located("linux", &[home, ("XDG_DATA_HOME", "/xdg")]), path("/xdg/dubio"));
        assert_eq!(
            located("linux", &[home, ("XDG_DATA_HOME", "x")]),
            path("/home/ada/.local/share/dubio")
        );
        let library = "/home/ada/Library/Application Support/dubio";
        assert_eq!(located("macos", &[home]), path(library));
        assert_eq!(located("linux", &[]), None);
    }
}
