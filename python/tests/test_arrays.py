"""Arrays of any kind give the same scores, and what is wrong with one is said."""

import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import dubio

FEW = {"resamples": 20}


def same(a, b):
    return a.to_dict() == b.to_dict()


def test_layouts_and_read_only_memory_make_no_difference(example):
    probs, labels = example
    expected = dubio.evaluate(probs, labels, **FEW)
    fortran = np.asfortranarray(probs)
    strided = np.repeat(probs, 2, axis=1)[:, ::2]
    backwards = np.ascontiguousarray(probs[:, ::-1, ::-1])[:, ::-1, ::-1]
    other_order = np.ascontiguousarray(probs.transpose(1, 2, 0)).transpose(2, 0, 1)
    frozen = probs.copy()
    frozen.flags.writeable = False
    big = probs.astype(">f8")
    field = np.zeros(probs.shape, dtype=[("tag", np.int8), ("probs", np.float64)])
    field["probs"] = probs
    for other in (fortran, strided, backwards, other_order, field["probs"], frozen, big, probs.tolist()):
        assert same(dubio.evaluate(other, labels, **FEW), expected)
    assert same(dubio.evaluate(probs, np.repeat(labels, 3)[::3], **FEW), expected)
    for dtype in (np.int8, np.uint16, np.int32):
        assert same(dubio.evaluate(probs, labels.astype(dtype), **FEW), expected)


def test_nothing_is_copied(example):
    from dubio._arrays import interface

    probs, _ = example
    for array in (probs, np.asfortranarray(probs), probs.astype(np.float16), probs[:, ::2], probs[..., 1:3]):
        assert interface("probs", array).address == array.__array_interface__["data"][0]


def test_half_precision_is_read_as_it_is(example):
    probs, labels = example
    logits = np.log(probs).astype(np.float16)
    expected = dubio.evaluate(logits=logits.astype(np.float64), labels=labels, **FEW)
    assert same(dubio.evaluate(logits=logits, labels=labels, **FEW), expected)


class HasArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


class HasDlpack:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_other_frameworks_hand_over_their_memory(example):
    probs, labels = example
    expected = dubio.evaluate(probs, labels, **FEW)
    assert same(dubio.evaluate(HasArray(probs), HasArray(labels), **FEW), expected)
    if hasattr(np, "from_dlpack"):
        assert same(dubio.evaluate(HasDlpack(probs), labels, **FEW), expected)


def test_one_model_may_leave_its_axis_out(example):
    probs, labels = example
    assert same(dubio.evaluate(probs[0], labels, **FEW), dubio.evaluate(probs[:1], labels, **FEW))


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda p, y: (p * 2, y), "save `logits`"),
        (lambda p, y: (p, y[:-1]), "199"),
        (lambda p, y: (p, y + 5), "labels"),
        (lambda p, y: (np.where(p == p.max(), np.nan, p), y), "NaN"),
        (lambda p, y: (p.astype(str), y), "give numbers"),
        (lambda p, y: (p, y.astype(str)), "np.unique(labels, return_inverse=True)[1] numbers text"),
        (lambda p, y: (np.ma.masked_less(p, np.median(p)), y), "2000 values are masked"),
        (lambda p, y: (p[..., None], y), "shape"),
    ],
)
def test_what_is_wrong_is_an_exception_in_plain_words(example, change, words):
    probs, labels = change(*example)
    with pytest.raises(dubio.PredictionError) as caught:
        dubio.evaluate(probs, labels, **FEW)
    assert words in str(caught.value) and "<arrays" not in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, dubio.Error)


def test_settings_that_do_not_exist_are_told(example):
    probs, labels = example
    with pytest.raises(dubio.SettingError, match="no setting is called `bin`; did you mean `bins`"):
        dubio.evaluate(probs, labels, bin=3)
    for bins, got in [("x", '"x"'), (1.5, "1.5"), (None, "None"), (-1, "-1")]:
        with pytest.raises(dubio.SettingError) as caught:
            dubio.ece(probs, labels, bins=bins)
        assert str(caught.value) == f"bins: expected a whole number from 0, got {got}"
    with pytest.raises(dubio.SettingError, match="threshold: expected a finite number, got nan"):
        dubio.evaluate(probs, labels, threshold=float("nan"))
    with pytest.raises(dubio.SettingError, match="did you mean `ece`"):
        dubio.evaluate(probs, labels, scores="eec")
    with pytest.raises(TypeError, match="nll has no setting `bins`"):
        dubio.nll(probs, labels, bins=3)
    with pytest.raises(dubio.PredictionError, match="more than one form"):
        dubio.evaluate(probs, labels, logits=probs)


def test_temperatures_of_a_check_can_come_from_before_a_shift(example):
    probs, labels = example
    shifted = np.sqrt(probs) / np.sqrt(probs).sum(-1, keepdims=True)
    settings = {"recalibrate": "per-member", "replicates": 50}
    own = dubio.check(probs, labels, **settings).to_dict()
    assert own == dubio.check(probs, labels, recalibrate_on=probs, **settings).to_dict()
    after = dubio.check(shifted, labels, recalibrate_on=probs, **settings).to_dict()
    assert after["temperatures"] == own["temperatures"] and after["statistics"] != own["statistics"]
    with pytest.raises(dubio.Error, match="goes with --recalibrate"):
        dubio.check(shifted, labels, recalibrate_on=probs)


def test_results_are_pickled_and_copied(example):
    card = dubio.evaluate(*example, **FEW)
    assert pickle.loads(pickle.dumps(card)).to_dict() == card.to_dict() == copy.deepcopy(card).to_dict()
    checks = dubio.check(*example, replicates=50)
    assert pickle.loads(pickle.dumps(checks)).to_dict() == checks.to_dict()
    collected = dubio.Accumulator(scores=["nll"])
    collected.update(*example)
    assert same(pickle.loads(pickle.dumps(collected)).compute(**FEW), collected.compute(**FEW))


def score(arguments):
    return dubio.ece(*arguments)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_worker_process_scores_too(example, method):
    here = dubio.ece(*example)  # threads of this process are no use to a forked one
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(score, [example] * 3).get(60) == [here] * 3


def test_a_child_of_a_process_that_scored_in_two_threads_scores_too(example):
    expected = dubio.ece(*example)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert set(threads.map(score, [example] * 8)) == {expected}
        with multiprocessing.get_context("spawn" if os.name == "nt" else "fork").Pool(2) as pool:
            assert pool.map_async(score, [example] * 3).get(60) == [expected] * 3


def test_other_python_threads_run_during_a_long_command():
    probs = np.random.default_rng(0).dirichlet(np.ones(20), 20000)
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    lasted, resamples = 0.0, 10000
    while lasted < 0.3:  # long on any machine
        resamples *= 2
        begun = time.monotonic()
        dubio.evaluate(probs, np.zeros(20000, int), scores=["ece", "nll", "brier"], resamples=resamples)
        ended = time.monotonic()
        lasted = ended - begun
    over.set()
    other.join()
    during = sum(begun < at < ended for at in ticks)
    # Python's thread comes back every 50 ms to look for signals; a held GIL lets another in then at most.
    assert during > 4 * lasted / 0.05, (during, lasted)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_a_long_computation():
    code = (
        "import numpy as np, dubio\n"
        "p = np.random.default_rng(0).dirichlet(np.ones(100), 20000)\n"
        "print('begun', flush=True)\n"
        "dubio.evaluate(p, np.zeros(20000, int), resamples=100000)\n"
    )
    # Whoever runs the tests in the background of a shell has a child that ignores Ctrl-C.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process = subprocess.Popen([sys.executable, "-c", code], preexec_fn=heed, **pipes)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors and process.returncode != 0
