//! `laplace` against closed forms and against laplace-torch.

#[path = "../support/mod.rs"]
mod support;

mod case;
mod curvature;
mod exact;
mod predictions;
mod torch;
