"""Heat map of the test error of two-layer ReLU CNNs, over signal strength and dimension.

The setting is that of Kou et al. (2023): each example has two patches, the signal y * mu and
Gaussian noise; a share of the labels is flipped; ten filters per class are trained by gradient
descent on the cross-entropy. For every cell (signal, dimension) the network is trained several
times, on a new draw each, and the test error is written to a CSV file. A run that was interrupted
goes on where the file ends.

    python heat_map.py --out results --signals 10 --dims 10 --repetitions 10
    python heat_map.py --out results --plot-only

This is the script that docs/from-your-script.md replaces. It was written for that page, in the
style in which such scripts are published; nothing in learnscope uses it.
"""

import argparse
import csv
import json
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

COLUMNS = ["signal", "dim", "seed", "loss", "train_accuracy", "test_accuracy"]


# ------------------------------------------------------------------------------------------------
# Settings
# ------------------------------------------------------------------------------------------------


def parse_args():
    parser = argparse.ArgumentParser(description="Test error over signal and dimension")

    # the plane
    parser.add_argument("--signals", type=int, default=10, help="number of signal strengths")
    parser.add_argument("--min-signal", type=float, default=1.0)
    parser.add_argument("--max-signal", type=float, default=10.0)
    parser.add_argument("--dims", type=int, default=10, help="number of dimensions")
    parser.add_argument("--min-dim", type=int, default=100)
    parser.add_argument("--max-dim", type=int, default=1090)
    parser.add_argument("--repetitions", type=int, default=10)

    # data
    parser.add_argument("--n-train", type=int, default=20)
    parser.add_argument("--n-test", type=int, default=200)
    parser.add_argument("--noise", type=float, default=1.0, help="standard deviation of the noise")
    parser.add_argument("--flip", type=float, default=0.1, help="share of flipped labels")

    # network and training
    parser.add_argument("--width", type=int, default=10, help="filters per class")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=0, help="0: all examples at once")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--weight-decay", type=float, default=0.0)

    # the rest
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default="results")
    parser.add_argument("--log-every", type=int, default=0, help="epochs between printed lines")
    parser.add_argument("--plot-only", action="store_true")
    return parser.parse_args()


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


# ------------------------------------------------------------------------------------------------
# Data
# ------------------------------------------------------------------------------------------------


class SignalNoiseDataset(Dataset):
    """n examples of two patches: one is the true label times mu, the other is noise."""

    def __init__(self, n, dim, signal, noise, flip):
        self.n, self.dim = n, dim
        self.mu = torch.zeros(dim)
        self.mu[0] = signal
        true_labels = torch.randint(0, 2, (n,)) * 2.0 - 1.0
        flipped = torch.rand(n) < flip
        self.labels = torch.where(flipped, -true_labels, true_labels)
        self.patches = torch.zeros(n, 2, dim)
        noises = noise * torch.randn(n, dim)
        # The signal is in the first or in the second patch, at random.
        place = torch.randint(0, 2, (n,))
        for i in range(n):
            self.patches[i, place[i]] = true_labels[i] * self.mu
            self.patches[i, 1 - place[i]] = noises[i]

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.patches[index], self.labels[index]


def make_loaders(args, signal, dim):
    train_set = SignalNoiseDataset(args.n_train, dim, signal, args.noise, args.flip)
    test_set = SignalNoiseDataset(args.n_test, dim, signal, args.noise, args.flip)
    batch_size = args.batch_size if args.batch_size > 0 else args.n_train
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=batch_size < args.n_train)
    test_loader = DataLoader(test_set, batch_size=args.n_test)
    return train_loader, test_loader


# ------------------------------------------------------------------------------------------------
# Network
# ------------------------------------------------------------------------------------------------


class TwoLayerCNN(nn.Module):
    """Filters of both classes over the patches: ReLU, mean over patches, sum over filters.

    The second layer is fixed: the output for a class is what its own filters add up to.
    """

    def __init__(self, dim, width):
        super().__init__()
        self.width = width
        self.filters = nn.Conv1d(1, 2 * width, kernel_size=dim, stride=dim)

    def forward(self, patches):
        n = patches.shape[0]
        seen = F.relu(self.filters(patches.reshape(n, 1, -1)))  # n x filters x patches
        by_filter = seen.mean(dim=2)
        negative = by_filter[:, : self.width].sum(dim=1)
        positive = by_filter[:, self.width :].sum(dim=1)
        return torch.stack([negative, positive], dim=1)


# ------------------------------------------------------------------------------------------------
# Training
# ------------------------------------------------------------------------------------------------


def make_optimizer(args, model):
    if args.optimizer == "sgd":
        return torch.optim.SGD(
            model.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=args.weight_decay
        )
    return torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)


def to_classes(labels):
    return ((labels + 1) / 2).long()


def train_one_epoch(args, model, loader, optimizer):
    model.train()
    total_loss, total = 0.0, 0
    for patches, labels in loader:
        patches, classes = patches.to(args.device), to_classes(labels).to(args.device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(patches), classes)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(labels)
        total += len(labels)
    return total_loss / total


@torch.no_grad()
def evaluate(args, model, loader):
    model.eval()
    loss, right, total = 0.0, 0, 0
    for patches, labels in loader:
        patches, classes = patches.to(args.device), to_classes(labels).to(args.device)
        outputs = model(patches)
        loss += F.cross_entropy(outputs, classes, reduction="sum").item()
        right += (outputs.argmax(dim=1) == classes).sum().item()
        total += len(labels)
    return loss / total, right / total


def run_once(args, signal, dim, repetition):
    """One training from a new draw of the data and the weights."""
    set_seed(args.seed + repetition)
    train_loader, test_loader = make_loaders(args, signal, dim)
    model = TwoLayerCNN(dim, args.width).to(args.device)
    optimizer = make_optimizer(args, model)
    for epoch in range(args.epochs):
        loss = train_one_epoch(args, model, train_loader, optimizer)
        if args.log_every and (epoch + 1) % args.log_every == 0:
            print(f"    epoch {epoch + 1}: training loss {loss:.4f}")
    train_loss, train_accuracy = evaluate(args, model, train_loader)
    _, test_accuracy = evaluate(args, model, test_loader)
    return train_loss, train_accuracy, test_accuracy


# ------------------------------------------------------------------------------------------------
# Results
# ------------------------------------------------------------------------------------------------


def read_finished(path):
    """The cells that an earlier run has written, so that they are not trained again."""
    finished = set()
    if os.path.exists(path):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                finished.add((float(row["signal"]), int(row["dim"]), int(row["seed"])))
    return finished


def write_row(path, row):
    new = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        writer.writerow(row)


def summarise(path):
    """Mean test error of every cell, over the repetitions."""
    cells = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            cell = (float(row["signal"]), int(row["dim"]))
            cells.setdefault(cell, []).append(1 - float(row["test_accuracy"]))
    signals = sorted({signal for signal, _ in cells})
    dims = sorted({dim for _, dim in cells})
    errors = np.full((len(dims), len(signals)), np.nan)
    for (signal, dim), values in cells.items():
        errors[dims.index(dim), signals.index(signal)] = np.mean(values)
    return signals, dims, errors


def plot(path, figure_path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    signals, dims, errors = summarise(path)
    figure, axes = plt.subplots(figsize=(5, 4))
    image = axes.pcolormesh(signals, dims, errors, shading="nearest", cmap="viridis")
    axes.set_xlabel("signal")
    axes.set_ylabel("dimension")
    axes.set_title("Test error")
    figure.colorbar(image)
    figure.tight_layout()
    figure.savefig(figure_path, dpi=150)
    plt.close(figure)


# ------------------------------------------------------------------------------------------------
# The loops
# ------------------------------------------------------------------------------------------------


def sweep(args, table):
    signals = np.linspace(args.min_signal, args.max_signal, args.signals).round(2).tolist()
    dims = np.linspace(args.min_dim, args.max_dim, args.dims).round().astype(int).tolist()
    finished = read_finished(table)
    begin = time.time()
    for signal in signals:
        for dim in dims:
            errors = []
            for repetition in range(args.repetitions):
                if (signal, dim, repetition) in finished:
                    continue
                loss, train_accuracy, test_accuracy = run_once(args, signal, dim, repetition)
                write_row(table, [signal, dim, repetition, loss, train_accuracy, test_accuracy])
                errors.append(1 - test_accuracy)
            if errors:
                spent = time.time() - begin
                print(f"signal {signal:.2f} dim {dim}: error {np.mean(errors):.3f} ({spent:.0f} s)")


def main():
    args = parse_args()
    torch.set_num_threads(args.threads)
    os.makedirs(args.out, exist_ok=True)
    table = os.path.join(args.out, "errors.csv")
    if not args.plot_only:
        with open(os.path.join(args.out, "args.json"), "w") as file:
            json.dump(vars(args), file, indent=1)
        sweep(args, table)
    plot(table, os.path.join(args.out, "heat_map.png"))


if __name__ == "__main__":
    main()
