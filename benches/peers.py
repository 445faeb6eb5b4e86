#!/usr/bin/env python3
"""Time the same scorecard with the usual Python packages and with `dubio evaluate`.

Where two packages compute the same score both are timed and only the faster
enters the sum, so the ratio is against the best of them, not all of them.
"""
import argparse, json, math, os, platform, statistics, subprocess, sys, time, tracemalloc, warnings
from importlib.metadata import version
from pathlib import Path

import netcal.metrics as nc
import numpy as np
import sklearn.metrics as sk
import torch
import torchmetrics.functional.classification as tm
from netcal.scaling import TemperatureScaling
from scipy.optimize import minimize_scalar

MEMBERS, N, C, BINS, SEED = 10, 50_000, 100, 15, 0
CLASSES, MMCE_LIMIT, TOLERANCE = np.arange(C), 24 * 2**30, 1e-5

def generate(path):
    """Logits with class signal: about 76 % accuracy, correlated members, best T about 1.1."""
    rng = np.random.default_rng(SEED)
    labels = rng.integers(0, C, N)
    signal = np.maximum(rng.normal(3.3, 1.2, N), 0).astype(np.float32)  # easy and hard examples
    shared = rng.standard_normal((N, C), dtype=np.float32)
    logits = np.empty((MEMBERS, N, C), np.float32)
    for out in logits:
        rng.standard_normal(dtype=np.float32, out=out)
        out += np.float32(3**0.5) * shared  # members correlate at 3/4
        out[np.arange(N), labels] += 2 * signal
        out *= 2
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npz")
    np.savez(part, logits=logits, labels=labels)
    part.rename(path)  # an interrupted run leaves no half-written input behind

class View:
    """One predictive distribution in the forms the packages take."""
    def __init__(self, lp, y, data=None):
        self.lp, self.y, self.p = lp, y, lp.exp()
        self.pn, self.yn = self.p.numpy(), y.numpy()
        self.total = -torch.linalg.vecdot(self.p, lp)
        self.pred = self.pn.argmax(1)
        self.conf = np.take_along_axis(self.pn, self.pred[:, None], 1)[:, 0]
        self.err = self.pred != self.yn
        # -conf orders as 1 - conf does, without its rounding
        self.uncertainty = {"confidence": -self.conf, "total": self.total.numpy()}
        if data is not None:
            knowledge = (self.total - data).clamp_min(0)
            self.uncertainty["model"] = knowledge.numpy()
            self.values = {"uncertainty.total": self.total.mean(), "uncertainty.data": data.mean(),
                           "uncertainty.knowledge": knowledge.mean()}

# Pooling: logits -> View. The first is what one writes first; the second stays in cache and takes
# fewer exponentials, at the price of log 0 where every member underflows (never in this input).
def pool_whole(x, y):
    log_p = x.log_softmax(-1)
    lp = log_p.logsumexp(0) - math.log(len(x))
    return View(lp, y, -(log_p.exp() * log_p).sum(-1).mean(0))

def pool_chunks(x, y, size=4000):
    parts = []
    for chunk in x.split(size, 1):
        p, data = torch.zeros(chunk.shape[1:]), torch.zeros(chunk.shape[1])
        for log_p in (member.log_softmax(-1) for member in chunk):
            q = log_p.exp()
            p += q
            data -= torch.linalg.vecdot(q, log_p)
        parts.append(((p / len(x)).log(), data / len(x)))
    lp, data = map(torch.cat, zip(*parts))
    return View(lp, y, data)

# Scores: View -> {name in dubio's output: value}.
def nc_classwise(v, dtype, **kw):  # netcal has no class-wise form: one binary problem per class
    ece = nc.ECE(BINS, **kw)
    return np.mean([ece.measure(v.pn[:, c].astype(dtype), (v.yn == c).astype(int)) for c in range(C)])

def bin_of(x):  # (l, u], 0 in the first
    return np.clip(np.ceil(x * BINS).astype(np.int64) - 1, 0, BINS - 1)

def np_sce(v):
    bins = bin_of(v.pn) + CLASSES * BINS
    conf = np.bincount(bins.ravel(), v.pn.ravel(), C * BINS)
    hits = np.bincount(bins[np.arange(len(v.yn)), v.yn], minlength=C * BINS)
    return {"sce": np.abs(conf - hits).sum() / v.pn.size}

def np_ace(v):  # one sort serves both
    by_class = np.ascontiguousarray(v.pn.T)
    order = np.argsort(by_class, 1)
    p = np.take_along_axis(by_class, order, 1)
    gap = p - (v.yn[order] == CLASSES[:, None])
    def equal_mass(g):  # the remainder in the last bin; fewer values than bins: one each
        starts = np.arange(min(BINS, g.shape[-1])) * max(g.shape[-1] // BINS, 1)
        return np.abs(np.add.reduceat(g, starts, -1, dtype=np.float64)).sum() / v.pn.size
    above = [np.searchsorted(row, np.float32(1e-3), "right") for row in p]
    return {"ace": equal_mass(gap), "tace": sum(equal_mass(g[i:]) for g, i in zip(gap, above) if i < len(g))}

def np_uce(v):
    u = v.total.numpy() / math.log(C)
    return {"uce": np.abs(np.bincount(bin_of(u), v.err - u, BINS)).sum() / len(u)}

def np_aurc(v):
    errors = np.cumsum(v.err[np.argsort(-v.conf, kind="stable")])
    return {"aurc": np.mean(errors / np.arange(1, len(errors) + 1))}

def sk_misclassification(v):
    out = {}
    for name, score in v.uncertainty.items():
        # with drop_intermediate the first point at or above 95 % may be missing
        fpr, tpr, _ = sk.roc_curve(v.err, score, drop_intermediate=False)
        out[f"misclassification.auroc.{name}"] = sk.auc(fpr, tpr)
        out[f"misclassification.aupr.{name}"] = sk.average_precision_score(v.err, score)
        out[f"misclassification.fpr95.{name}"] = fpr[np.argmax(tpr >= 0.95)]
    return out

def nc_temperature(v):  # on f32 it stays at T = 1: its difference quotient comes out as 0
    return {"temperature": 1 / TemperatureScaling().fit(v.pn.astype(np.float64), v.yn).weights.item()}

def scipy_temperature(v):
    def nll(log_t):  # the f64 mean keeps the objective smooth at the tolerance asked
        each = torch.nn.functional.cross_entropy(v.lp * math.exp(-log_t), v.y, reduction="none")
        return each.double().mean().item()
    fit = minimize_scalar(nll, bounds=(-3, 3), method="bounded", options={"xatol": 1e-4})
    return {"temperature": math.exp(fit.x)}

def calibrated(v, scores):
    """Five random halvings; T from each half, the other scored with the given functions."""
    sums, rng = {}, np.random.default_rng(SEED)  # seeded: every repetition has the same halves
    for _ in range(5):
        views = [View(v.lp[i], v.y[i]) for i in torch.from_numpy(rng.permutation(N)).chunk(2)]
        for fit, test in (views, views[::-1]):
            tempered = View((test.lp / scipy_temperature(fit)["temperature"]).log_softmax(-1), test.y)
            for name, value in (item for score in scores for item in score(tempered).items()):
                sums[name] = sums.get(name, 0.0) + float(value)
    return {f"calibrated.{name}": s / 10 for name, s in sums.items()}

FAST = dict(num_classes=C, validate_args=False)
SCORES = [  # (step, part of the calibrated scores, [(package, function)])
    # the temperature moves no ranking, so these are not scored again
    ("accuracy, top-5, macro F1", False, [
        ("torchmetrics", lambda v: {
            "accuracy": tm.multiclass_accuracy(torch.from_numpy(v.pred), v.y, average="micro", **FAST),
            "top5_accuracy": tm.multiclass_accuracy(v.p, v.y, average="micro", top_k=5, **FAST),
            "macro_f1": tm.multiclass_f1_score(torch.from_numpy(v.pred), v.y, average="macro", **FAST)}),
        ("scikit-learn", lambda v: {
            "accuracy": sk.accuracy_score(v.yn, v.pred), "macro_f1": sk.f1_score(v.yn, v.pred, average="macro"),
            "top5_accuracy": sk.top_k_accuracy_score(v.yn, v.pn, k=5, labels=CLASSES)})]),
    ("NLL", True, [  # on f32 log_loss clips at 1.2e-7, which moves the fourth decimal
        ("scikit-learn", lambda v: {"nll": sk.log_loss(v.yn, v.pn.astype(np.float64), labels=CLASSES)}),
        ("torch", lambda v: {"nll": torch.nn.functional.nll_loss(v.lp, v.y)})]),
    ("Brier", True, [
        ("scikit-learn", lambda v: {"brier": sk.brier_score_loss(v.yn, v.pn, scale_by_half=False, labels=CLASSES)}),
        ("torch", lambda v: {
            "brier": (torch.linalg.vecdot(v.p, v.p) - 2 * v.p.gather(1, v.y[:, None])[:, 0] + 1).mean()})]),
    ("ECE, MCE", True, [
        ("torchmetrics", lambda v: {
            name: tm.multiclass_calibration_error(v.p, v.y, n_bins=BINS, norm=norm, **FAST)
            for name, norm in (("ece", "l1"), ("mce", "max"))}),
        ("netcal", lambda v: {"ece": nc.ECE(BINS).measure(v.pn, v.yn), "mce": nc.MCE(BINS).measure(v.pn, v.yn)})]),
    ("SCE (class-wise ECE)", True, [("netcal", lambda v: {"sce": nc_classwise(v, np.float32)}), ("numpy", np_sce)]),
    ("ACE, TACE", True, [("numpy", np_ace)]), ("UCE", True, [("numpy", np_uce)]),
    ("misclassification AUROC, AP, FPR95", True, [("scikit-learn", sk_misclassification)]),
    ("AURC", True, [("numpy", np_aurc)]),  # ties in the order they come: too few here to show
    ("temperature", False, [("netcal", nc_temperature), ("scipy", scipy_temperature)]),
]

def timed(fn, reps):
    seconds = []
    for _ in range(reps):
        start, out = time.perf_counter(), fn()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), out

def flatten(x, prefix=""):
    if isinstance(x, list):
        x = {e.get("name", i) if isinstance(e, dict) else i: e for i, e in enumerate(x)}
    if isinstance(x, dict):
        return {k: n for key, value in x.items() for k, n in flatten(value, f"{prefix}.{key}").items()}
    return {prefix.removesuffix(".value"): x} if type(x) in (int, float) else {}

def look_up(flat, name):
    """The score by its own name, under whatever headings the output has put it."""
    hits = [k for k in flat if k.endswith(f".{name}") and ("calibrated" in name or ".calibrated." not in k)]
    return flat[min(hits, key=lambda k: k.count("."))] if hits else None

def measure(file, reps):
    """Every step with every package: the rows of the table, and the floors."""
    logits, labels = (np.load(file)[key] for key in ("logits", "labels"))
    x, y, rows = torch.from_numpy(logits), torch.from_numpy(labels), []
    def step(name, package, fn, counts=True, note=""):
        seconds, out = timed(fn, reps)
        print(f"{name} [{package}]: {seconds:.4f} s", file=sys.stderr, flush=True)
        values = {k: float(value) for k, value in (out.values if isinstance(out, View) else out).items()}
        rows.append(dict(step=name, package=package, seconds=seconds, counts=counts, note=note, values=values))
        return out
    def fastest(ways):  # of the rows just added, one per way
        last = rows[-len(ways):]
        best = min(range(len(ways)), key=lambda i: last[i]["seconds"])
        for i, row in enumerate(last):
            row["counts"] = i == best
        return ways[best]
    pool = "pool members, entropies, mutual information"
    v = fastest([step(pool, "torch", lambda: pool_whole(x, y), note="whole array, log_softmax and logsumexp"),
                 step(pool, "torch", lambda: pool_chunks(x, y), note="cache-sized chunks")])
    again = []
    for name, in_calibrated, ways in SCORES:
        for package, fn in ways:
            step(name, package, lambda: fn(v), note="none of the packages has it" if ways[0][0] == "numpy" else "")
        best = fastest(ways)[1]
        again += [best] if in_calibrated else []
    # netcal's equal-mass bins raise "smallest edge difference is 0" on f32, and it has no TACE
    step("ACE alone", "netcal", lambda: {"ace": nc_classwise(v, np.float64, equal_intervals=False)}, False, "in f64")
    tracemalloc.start()  # netcal's MMCE holds n x n arrays: measure small before it takes the machine down
    nc.MMCE().measure(v.pn[:5000], v.yn[:5000])
    need = tracemalloc.get_traced_memory()[1] * (N / 5000) ** 2
    tracemalloc.stop()
    n, key, *how = (N, "mmce", True) if need <= MMCE_LIMIT else (
        5000, "mmce of 5000", False, f"could not run at full size ({need / 2**30:.0f} GiB): n = 5000, not scaled")
    step("MMCE", "netcal", lambda: {key: nc.MMCE().measure(v.pn[:n], v.yn[:n])}, *how)
    step("calibrated scores, 5 x 2 halves", "as counted above", lambda: calibrated(v, again))
    return rows, {"numpy, one thread": timed(logits.sum, reps)[0],
                  f"torch, {torch.get_num_threads()} threads": timed(x.sum, reps)[0]}, logits.nbytes

def run_dubio(binary, file, reps):
    cmd = [str(binary.resolve()), "evaluate", str(file), "--no-intervals", "--json"]
    first = subprocess.run(cmd, capture_output=True, text=True)  # untimed: brings the file into the page cache
    if first.returncode:
        sys.exit(f"peers.py: {' '.join(cmd)} exited with {first.returncode}:\n{first.stderr}")
    seconds, _ = timed(lambda: subprocess.run(cmd, check=True, capture_output=True), reps)
    return seconds, flatten(json.loads(first.stdout))

def compare(rows, flat):
    for package, name, theirs in ((r["package"], *item) for r in rows for item in r["values"].items()):
        mine, flag = look_up(flat, name), ""
        off = None if mine is None else abs(mine - theirs)
        if flat and name != "mmce of 5000":
            # either side fits T to 1e-4 relative; the calibrated scores are over different random halves
            limit = 2e-4 if name == "temperature" else 0.05 * theirs if "calibrated" in name else TOLERANCE
            flag = "MISSING" if off is None else "" if off <= limit else "DIFFERS"
        yield dict(score=name, package=package, theirs=theirs, dubio=mine, difference=off, flag=flag)

def report(r):
    tag, ours = {p: f"{p} {v}" for p, v in r["versions"].items()}, r["dubio_seconds"]
    print("| step | package | seconds | in the sum |\n| --- | --- | ---: | --- |")
    for s in r["steps"]:
        counts = ("yes" if s["counts"] else "no") + (f"; {s['note']}" if s["note"] else "")
        print(f"| {s['step']} | {tag.get(s['package'], s['package'])} | {s['seconds']:.4f} | {counts} |")
    print(f"| **sum** | fastest of each | **{r['sum_seconds']:.4f}** | |")
    if ours:
        print(f"| **dubio evaluate**, whole process, reading the file | dubio | **{ours:.4f}** | |\n"
              f"| **ratio**, sum / dubio | | **{r['ratio']:.2f}** | |")
    for who, s in r["floor_seconds"].items():
        beside = f"; dubio / floor = {ours / s:.2f}" if ours else ""
        print(f"| floor: sum of the array, once | {who} | {s:.4f} | {r['bytes'] / s / 1e9:.1f} GB/s{beside} |")
    print(f"\n{r['cpu']}, {r['cores']} cores; median of {r['reps']}; {r['shape']} float32 logits, "
          f"{r['bytes'] / 1e6:.0f} MB; Python {platform.python_version()}, {', '.join(tag.values())}")
    print("\n| score | package | theirs | dubio | difference | |\n| --- | --- | ---: | ---: | ---: | --- |")
    for v in r["values"]:
        mine, off = ("" if z is None else f"{z:{f}}" for z, f in ((v["dubio"], ".7f"), (v["difference"], ".1e")))
        print(f"| {v['score']} | {v['package']} | {v['theirs']:.7f} | {mine} | {off} | {v['flag']} |")
    if bad := sorted({v["score"] for v in r["values"] if v["flag"]}):
        print(f"\nNot the same work until explained (too far apart, or absent): {', '.join(bad)}")

def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("scratch", type=Path, help="folder outside the repository for the 200 MB input")
    ap.add_argument("--binary", type=Path, help="path of the dubio binary")
    ap.add_argument("--peers-only", action="store_true", help="time the packages alone")
    ap.add_argument("--reps", type=int, default=int(os.environ.get("REPS", 3)), help="runs per step (default 3)")
    ap.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    args = ap.parse_args()
    if not args.peers_only and not (args.binary and args.binary.is_file() and os.access(args.binary, os.X_OK)):
        sys.exit(f"peers.py: no dubio binary at {args.binary or '(no --binary given)'}; "
                 "build it with `cargo build --release`, or give --peers-only")
    if args.scratch.resolve().is_relative_to(Path(__file__).resolve().parents[1]):
        sys.exit(f"peers.py: {args.scratch} is inside the repository; choose a folder outside it")
    file = args.scratch / f"predictions-{MEMBERS}x{N}x{C}-seed{SEED}.npz"
    if not file.exists():
        generate(file)
    warnings.filterwarnings("ignore")  # scikit-learn on f32 rows that sum to 1 - 1e-7
    torch.set_grad_enabled(False)
    torch.set_num_threads(cores := len(os.sched_getaffinity(0)))
    rows, floors, size = measure(file, args.reps)
    seconds, flat = (None, {}) if args.peers_only else run_dubio(args.binary, file, args.reps)
    total = sum(r["seconds"] for r in rows if r["counts"])
    cpu = next((s.split(":", 1)[1].strip() for s in open("/proc/cpuinfo") if s.startswith("model name")), "unknown")
    result = dict(cpu=cpu, cores=cores, reps=args.reps, shape=[MEMBERS, N, C], bytes=size, steps=rows,
                  versions={p: version(p) for p in "torch torchmetrics netcal scikit-learn scipy numpy".split()},
                  sum_seconds=total, dubio_seconds=seconds, ratio=seconds and total / seconds,
                  floor_seconds=floors, values=list(compare(rows, flat)))
    report(result)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")

if __name__ == "__main__":
    main()
