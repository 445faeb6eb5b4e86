#!/usr/bin/env python3
"""Follows a training run of ours in PyTorch: same weights, same batches, same updates.

    cargo build --release -p dubio-nn --example train
    train curve preresnet20 cifar-10 STEPS RATE FOLDER start.safetensors > losses.txt
    python curve.py FOLDER start.safetensors losses.txt RATE

Prints both losses every ten steps and the largest difference. They part slowly, because sums of
f32 in another order are rounded otherwise and training amplifies it.
"""
import sys

import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file

folder, start, losses, rate = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
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


raw = np.concatenate([np.fromfile(f"{folder}/cifar-10/data_batch_{i}.bin", np.uint8).reshape(-1, 3073) for i in range(1, 6)])
x = raw[:, 1:].reshape(-1, 3, 32, 32).astype(np.float64) / 255
mean, std = x.mean((0, 2, 3), keepdims=True), x.std((0, 2, 3), keepdims=True)
x, y = torch.tensor((x - mean) / std, dtype=torch.float32), torch.tensor(raw[:, 0].astype(np.int64))
model = PreResNet20()
missing = model.load_state_dict(load_file(start), strict=False)
assert all("num_batches" in name for name in missing.missing_keys) and not missing.unexpected_keys
opt = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
worst = 0
for step, ours in enumerate(map(float, open(losses))):
    rows = slice(step * 128, (step + 1) * 128)
    opt.zero_grad()
    loss = F.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    opt.step()
    worst = max(worst, abs(loss.item() - ours))
    if step % 10 == 0:
        print(f"step {step:3}: dubio {ours:.6f}  PyTorch {loss.item():.6f}")
print(f"largest difference {worst:.2g}")
