"""Builds the wheel: the extension by maturin, and the `dubio` command beside it."""

import json
import os
import shutil
import subprocess

from maturin import (  # noqa: F401
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)
import maturin

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "wheel.data", "scripts")
os.makedirs(SCRIPTS, exist_ok=True)  # maturin looks for it whatever it is asked
#: Features that the command and the extension are built with, as in ``DUBIO_FEATURES=parquet pip install ./python``.
FEATURES = os.environ.get("DUBIO_FEATURES", "").replace(",", " ").split()
if FEATURES:
    os.environ["MATURIN_PEP517_ARGS"] = "--features " + ",".join(FEATURES)


def _add_command() -> None:
    """Puts the binary where the wheel's scripts are taken from."""
    manifest = os.path.join(HERE, "..", "Cargo.toml")
    # Together with the extension, so that both agree on features and what they share is built once.
    build = ["cargo", "build", "--release", "--manifest-path", manifest, "-p", "dubio", "-p", "dubio-python"]
    both = [f"{package}/{feature}" for feature in FEATURES for package in ("dubio", "dubio-python")]
    subprocess.run([*build, "--features", ",".join(both)], check=True)
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]
    target = json.loads(subprocess.run(metadata, check=True, capture_output=True).stdout)["target_directory"]
    name = "dubio.exe" if os.name == "nt" else "dubio"
    shutil.copy2(os.path.join(target, "release", name), os.path.join(SCRIPTS, name))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _add_command()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _add_command()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("build a wheel: the crates are beside this folder, not inside it")
