//! One table, one file.

mod all_scores;
mod checks;
mod classes;
mod costs;
mod decisions;
mod differences;
mod equivalents;
mod groups;
mod main_scores;
mod mistakes;
mod ood;
mod overview;
mod shifts;

pub(crate) use all_scores::all_scores;
pub(crate) use checks::checks;
pub(crate) use classes::classes;
pub(crate) use costs::costs;
pub(crate) use decisions::decisions;
pub(crate) use differences::differences;
pub(crate) use equivalents::equivalents;
pub(crate) use groups::groups;
pub(crate) use main_scores::main_scores;
pub(crate) use mistakes::mistakes;
pub(crate) use ood::ood;
pub(crate) use overview::overview;
pub(crate) use shifts::shifts;
