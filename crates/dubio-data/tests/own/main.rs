//! A user's own data: tables, images and arrays as they come, and every way in which they may be wrong.

mod arrays;
mod images;
mod ood;
mod support;
mod tables;
