//! The engine for GPUs against the one for CPUs: vectors, every layer, every network, both losses, large batches and images
//! that are moved.
//!
//! Without a GPU these tests are reported as ignored, unless `DUBIO_CUDA` is 1; without NVRTC so is the one that
//! only compiles, unless `DUBIO_NVRTC` is 1. `.ci/gpu` runs them where there is a GPU and no cargo.

mod apart;
mod asked;
mod images;
mod large;
mod layers;
mod networks;
mod steps;
mod vectors;

use std::process::ExitCode;

use dubio_nn::Precision;
use dubio_nn::cuda::{Cuda, compile_kernels};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let (gpu, compiler) = (Cuda::open(0, Precision::F32), compile_kernels("compute_80"));
    for missing in [gpu.as_ref().err(), compiler.as_ref().err()].into_iter().flatten() {
        eprintln!("note: {missing}");
    }
    let asked = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let must = asked("DUBIO_CUDA");
    let on_gpu = |name: &'static str, test: fn(&Cuda)| {
        let gpu = gpu.clone();
        let ignored = gpu.is_err() && !must;
        let run = move || {
            test(&gpu.map_err(|error| Failed::from(error.to_string()))?);
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let no_compiler = compiler.is_err() && !asked("DUBIO_NVRTC");
    let trials = vec![
        Trial::test("kernels_compile_for_two_generations_of_gpus", || {
            for architecture in ["compute_80", "compute_90"] {
                compile_kernels(architecture).map_err(|error| error.to_string())?;
            }
            Ok(())
        })
        .with_ignored_flag(no_compiler),
        Trial::test("every_kind_of_layer_is_compared", || {
            layers::none_is_missing();
            Ok(())
        }),
        on_gpu("vectors_move_as_on_a_cpu", vectors::vectors),
        on_gpu("noise_is_that_of_a_cpu_bit_by_bit", vectors::noise),
        on_gpu("every_layer_has_the_gradients_of_a_cpu", layers::every_layer),
        on_gpu("perturbed_layers_have_the_gradients_of_a_cpu", layers::perturbed),
        on_gpu("convolutions_of_every_tile_have_the_gradients_of_a_cpu", layers::convolutions),
        on_gpu("lower_precisions_err_by_as_much_as_they_round", layers::precisions),
        on_gpu("every_network_has_the_gradients_of_a_cpu", networks::every_network),
        on_gpu("a_regression_has_the_gradients_of_a_cpu", networks::regression),
        on_gpu("losses_without_a_kernel_run_on_the_host", networks::host_loss),
        on_gpu("batches_of_many_blocks_have_the_gradients_of_a_cpu", large::losses),
        on_gpu("products_of_every_size_have_the_gradients_of_a_cpu", large::products),
        on_gpu("batches_beyond_a_grid_have_the_gradients_of_a_cpu", large::more_than_a_grid_has),
        on_gpu("images_are_moved_as_on_a_cpu", steps::moved),
        on_gpu("frozen_layers_keep_their_running_statistics", networks::frozen),
        on_gpu("work_beside_other_work_gives_the_same_bytes", steps::beside),
        on_gpu("the_same_step_gives_the_same_bytes", steps::repeatable),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
