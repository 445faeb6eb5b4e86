#!/usr/bin/env python3
"""Times training steps on a GPU: `crates/dubio-nn/examples/gpu_steps.rs` and the same work in PyTorch.

    python gpu_steps.py target/release/examples/gpu_steps [REPEATS [NAME ...]]

PyTorch runs eagerly and with the whole step in a CUDA graph, cuDNN deterministic; in bfloat16 by autocast, channels last.
Networks, batches of 128 and SGD with momentum are the same. Medians, in milliseconds: of an epoch of 60,000 examples
(mlp, lenet), of a step (resnet, wide), and for each member of several. PyTorch's members are batched matrix products. Ours
have 32 of the driver's queues, as the runs of a study have. Names choose rows: mlp, lenet, resnet, wide.
"""
import os, statistics, subprocess, sys, time

import torch, torch.nn as nn, torch.nn.functional as F

binary, repeats, chosen = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, sys.argv[3:]
prefix = os.path.dirname(os.path.dirname(sys.executable))
torch.backends.cudnn.deterministic = True
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.pad = (o - i) // 2
        self.stride = stride
    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        if self.stride > 1:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.pad, self.pad))
        return F.relu(x + y)


def resnet20():
    layers, i = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for o in (16, 32, 64):
        for k in range(3):
            layers.append(Block(i, o, 2 if o != i and k == 0 else 1))
            i = o
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Wide(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.b1, self.c1 = nn.BatchNorm2d(i), nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.b2, self.c2 = nn.BatchNorm2d(o), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(i, o, 1, stride, bias=False) if i != o else nn.Identity()
    def forward(self, x):
        h = F.relu(self.b1(x))
        x = self.short(h) if isinstance(self.short, nn.Conv2d) else x
        return x + self.c2(F.relu(self.b2(self.c1(h))))


def wide():
    layers, i = [nn.Conv2d(3, 16, 3, 1, 1, bias=False)], 16
    for o, stride in ((160, 1), (320, 2), (640, 2)):
        for k in range(4):
            layers.append(Wide(i, o, stride if k == 0 else 1))
            i = o
    return nn.Sequential(*layers, nn.BatchNorm2d(640), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(640, 10))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mlp():
    return nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10))


class Members(nn.Module):
    """MLPs side by side, as batched products."""
    def __init__(self, members):
        super().__init__()
        sizes = [(784, 200), (200, 200), (200, 10)]
        self.w = nn.ParameterList(nn.Parameter(torch.randn(members, i, o) * i**-0.5) for i, o in sizes)
        self.b = nn.ParameterList(nn.Parameter(torch.zeros(members, 1, o)) for _, o in sizes)
        self.members = members
    def forward(self, x):
        x = x.expand(self.members, *x.shape)
        for k in range(3):
            x = torch.baddbmm(self.b[k], x, self.w[k])
            x = F.relu(x) if k < 2 else x
        return x


def loss_of(model, x, y):
    if isinstance(model, Members):
        return F.cross_entropy(model(x).flatten(0, 1), y.repeat(model.members)) * model.members
    return F.cross_entropy(model(x), y)


def torchs(model, shape, examples, steps, unit, graph, precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    model = model.cuda().train()
    if precision == "bf16":
        model = model.to(memory_format=torch.channels_last)
    x, y = torch.randn(examples, *shape, device="cuda"), torch.arange(examples, device="cuda") % 10
    order = torch.randperm(examples, device="cuda")
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=True)
    whole = examples - examples % 128
    bx, by = torch.empty(128, *shape, device="cuda"), torch.empty(128, dtype=torch.long, device="cuda")
    def step():
        opt.zero_grad(set_to_none=not graph)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16", cache_enabled=not graph):
            loss = loss_of(model, bx.to(memory_format=torch.channels_last) if precision == "bf16" and bx.dim() == 4 else bx, by)
        loss.backward()
        opt.step()
    if graph:
        bx.copy_(x[:128]); by.copy_(y[:128])
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            step()
    def run(count):
        for k in range(count):
            rows = order[k * 128 % whole:][:128]
            torch.index_select(x, 0, rows, out=bx); torch.index_select(y, 0, rows, out=by)
            captured.replay() if graph else step()
        torch.cuda.synchronize()
    run(steps)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run(steps)
        times.append((time.perf_counter() - start) * unit / getattr(model, "members", 1))
    return statistics.median(times)


ROWS = [
    ("mlp", "f32", 1, mlp, (784,), 60000, 469, 1e3),
    ("mlp", "f32", 10, lambda: Members(10), (784,), 60000, 469, 1e3),
    ("lenet", "f32", 1, lenet, (1, 28, 28), 60000, 469, 1e3),
    ("resnet", "f32", 1, resnet20, (3, 32, 32), 2560, 20, 50.0),
    ("resnet", "tf32", 1, resnet20, (3, 32, 32), 2560, 20, 50.0),
    ("resnet", "f32", 10, None, None, None, None, None),
    ("resnet", "tf32", 10, None, None, None, None, None),
    ("wide", "f32", 1, wide, (3, 32, 32), 512, 4, 250.0),
    ("wide", "tf32", 1, wide, (3, 32, 32), 512, 4, 250.0),
    ("wide", "bf16", 1, wide, (3, 32, 32), 512, 4, 250.0),
]
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {repeats} repeats")
print(f"{'work':8} {'precision':9} {'members':>7} {'dubio':>9} {'eager':>9} {'ratio':>6} {'graph':>9} {'ratio':>6}")
for name, precision, members, make, shape, examples, steps, unit in ROWS:
    if chosen and name not in chosen:
        continue
    environment = {"VIRTUAL_ENV": prefix, "CUDA_DEVICE_MAX_CONNECTIONS": "32", **os.environ}
    out = subprocess.run([binary, name, str(repeats), precision, str(members)], capture_output=True, text=True, env=environment)
    ours = float(out.stdout.split()[1]) if out.returncode == 0 else float("nan")
    if out.returncode:
        print(out.stderr, file=sys.stderr)
    row = f"{name:8} {precision:9} {members:7d} {ours:9.3f}"
    for graph in (False, True) if make else ():
        theirs = torchs(make(), shape, examples, steps, unit, graph, precision)
        row += f" {theirs:9.3f} {theirs / ours:6.2f}"
    print(row, flush=True)
