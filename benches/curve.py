#!/usr/bin/env python3
"""Follows a training run of ours in PyTorch: same weights, same batches, same updates.

    cargo build --release -p dubio-nn --example train
    train curve preresnet20 cifar-10 STEPS RATE FOLDER start.safetensors > losses.txt
    python curve.py FOLDER start.safetensors losses.txt RATE pytorch.txt

Prints both losses every ten steps, how far single steps are apart, and the means of the epochs.
Single steps part, because sums of f32 in another order are rounded otherwise and training
amplifies it. PyTorch does the same to itself on another number of threads, which is the yardstick:

    OMP_NUM_THREADS=1 python curve.py FOLDER start.safetensors losses.txt RATE one.txt
    OMP_NUM_THREADS=2 python curve.py FOLDER start.safetensors one.txt RATE two.txt
"""
import sys

import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file

folder, start, losses, rate, out = *sys.argv[1:4], float(sys.argv[4]), sys.argv[5]
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(i), nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(o), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        same = stride == 1 and i == o
        self.downsample = nn.Identity() if same else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False))
    def forward(self, x):
        y = self.conv1(F.relu(self.bn1(x)))
        return self.conv2(F.relu(self.bn2(y))) + self.downsample(x)


class PreResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        def stage(i, o, stride):
            return nn.Sequential(Block(i, o, stride), Block(o, o, 1), Block(o, o, 1))
        self.layer1, self.layer2, self.layer3 = stage(16, 16, 1), stage(16, 32, 2), stage(32, 64, 2)
        self.bn, self.fc = nn.BatchNorm2d(64), nn.Linear(64, 10)
    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.conv1(x))))
        return self.fc(F.relu(self.bn(x)).mean((2, 3)))


def images(*names):
    raw = np.concatenate([np.fromfile(f"{folder}/cifar-10/{name}.bin", np.uint8).reshape(-1, 3073) for name in names])
    return raw[:, 1:].reshape(-1, 3, 32, 32).astype(np.float64) / 255, torch.tensor(raw[:, 0].astype(np.int64))


x, y = images(*(f"data_batch_{i}" for i in range(1, 6)))
mean, std = x.mean((0, 2, 3), keepdims=True), x.std((0, 2, 3), keepdims=True)
standardised = lambda x: torch.tensor((x - mean) / std, dtype=torch.float32)
x = standardised(x)
model = PreResNet20()
missing = model.load_state_dict(load_file(start), strict=False)
assert all("num_batches" in name for name in missing.missing_keys) and not missing.unexpected_keys
opt = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
epoch = len(y) // 128  # the rest of the file is left out, as in train.rs
both = []
with open(out, "w") as file:
    for step, theirs in enumerate(map(float, open(losses))):
        first = step % epoch * 128
        rows = slice(first, first + 128)
        opt.zero_grad()
        loss = F.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        opt.step()
        both.append((theirs, loss.item()))
        print(f"{loss.item():.6f}", file=file, flush=True)
        if step % 10 == 0:
            print(f"step {step:4}: given {theirs:.6f}  PyTorch {loss.item():.6f}", flush=True)
both = np.array(both)
apart = np.abs(both[:, 0] - both[:, 1])
for end in [e for e in [1, 5, 10, 50, 100, epoch] if e < len(apart)] + [len(apart)]:
    print(f"first {end} steps: largest difference {apart[:end].max():.2g}, mean {apart[:end].mean():.2g}")
for first in range(0, len(both), epoch):
    given, torchs = both[first:first + epoch].mean(0)
    print(f"steps {first} to {min(first + epoch, len(both))}: mean loss given {given:.4f}  PyTorch {torchs:.4f}")
model.eval()
x, y = images("test_batch")
with torch.no_grad():
    right = sum((model(standardised(x[i:i + 1000])).argmax(1) == y[i:i + 1000]).sum().item() for i in range(0, len(y), 1000))
print(f"test accuracy of PyTorch {right / len(y):.4f}")
