//! One table, one file.

mod all_scores;
mod costs;
mod groups;
mod main_scores;
mod shifts;

pub(crate) use all_scores::all_scores;
pub(crate) use costs::costs;
pub(crate) use groups::groups;
pub(crate) use main_scores::main_scores;
pub(crate) use shifts::shifts;
