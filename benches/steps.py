#!/usr/bin/env python3
"""Times the training steps of `crates/dubio-nn/examples/steps.rs` and the same work in PyTorch.

    python steps.py target/release/examples/steps [REPEATS]

Needs torch (`run.sh` installs it). Networks, batches and the update are the same: an MLP
784-200-200-10, a LeNet-5 and a ResNet-20 at batch 128, a network of 50 units on 13 features at batch 32, SGD
with momentum. `members` are several networks at once: ours side by side, one thread each; PyTorch's
batched by hand into one. Run it on a quiet machine: PyTorch's threads spin.
"""
import os, statistics, subprocess, sys, time

import torch, torch.nn as nn, torch.nn.functional as F

binary, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
cores = os.cpu_count()
torch.manual_seed(0)


def ours(name, threads, members):
    out = subprocess.run([binary, name, str(threads), str(members), str(repeats)], capture_output=True, text=True, check=True)
    return float(out.stdout.split()[1])


def torchs(model, x, y, batch, steps, loss, unit, threads):
    torch.set_num_threads(threads)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    def run(count):
        for step in range(count):
            first = step * batch % (len(x) - len(x) % batch)
            opt.zero_grad()
            loss(model(x[first:first + batch]), y[first:first + batch]).backward()
            opt.step()
    run(max(steps // 10, 2))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run(steps)
        times.append((time.perf_counter() - start) * unit)
    return statistics.median(times)


class Ensemble(nn.Module):
    """Members of the MLP as batched matrices."""
    def __init__(self, members):
        super().__init__()
        sizes = [784, 200, 200, 10]
        self.w = nn.ParameterList(torch.randn(members, i, o) / i**0.5 for i, o in zip(sizes, sizes[1:]))
        self.b = nn.ParameterList(torch.zeros(members, 1, o) for o in sizes[1:])
    def forward(self, x):
        x = x.expand(len(self.w[0]), *x.shape)
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = torch.baddbmm(b, x, w)
            x = F.relu(x) if i < 2 else x
        return x


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.pad = (o - i) // 2
    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        return F.relu(y + (F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.pad, self.pad)) if self.pad else x))


def resnet20():
    widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                         *[Block(*w) for w in widths], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def lenet5():
    return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), *mlp(400, 120, 84, 10))


def gaussian(out, y):
    return (0.5 * ((y - out[:, 0]) * torch.exp(-out[:, 1])) ** 2 + out[:, 1]).mean()


def mlp(*sizes):
    layers = [l for i, o in zip(sizes, sizes[1:]) for l in (nn.Linear(i, o), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


x, y = torch.randn(60_000, 784), torch.arange(60_000) % 10
tiny_x, tiny_y = torch.randn(512, 13), torch.rand(512)
images, classes = torch.randn(512, 3, 32, 32), torch.arange(512) % 10
members = 10
def ensemble_loss(out, y):
    return F.cross_entropy(out.flatten(0, 1), y.repeat(members)) * members
rows = [
    ("mlp, s/epoch", ours("mlp", cores, 1), torchs(mlp(784, 200, 200, 10), x, y, 128, 469, F.cross_entropy, 1.0, cores)),
    ("mlp, members, s/epoch each", ours("mlp", 1, cores), torchs(Ensemble(members), x, y, 128, 469, ensemble_loss, 1.0 / members, cores)),
    ("50 units, us/step", ours("tiny", 1, 1), min(torchs(mlp(13, 50, 2), tiny_x, tiny_y, 32, 2000, gaussian, 1e6 / 2000, t) for t in {1, cores})),
    ("lenet-5, s/epoch", ours("lenet", cores, 1), torchs(lenet5(), x, y, 128, 469, F.cross_entropy, 1.0, cores)),
    ("resnet-20, ms/step", ours("resnet", cores, 1), torchs(resnet20(), images, classes, 128, 4, F.cross_entropy, 250.0, cores)),
    ("resnet-20, members, ms/step each", ours("resnet", 1, cores), None),
]
print(f"| work | dubio | PyTorch {torch.__version__} | ratio |\n| --- | ---: | ---: | ---: |")
alone = rows[4][2]
for name, own, other in rows:
    other = alone if other is None else other
    print(f"| {name} | {own:.4g} | {other:.4g} | {other / own:.2f} |")
