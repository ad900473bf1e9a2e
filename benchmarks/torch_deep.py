"""The same deep networks in plain PyTorch, for benchmarks."""

from torch import nn


def lenet5() -> nn.Module:
    """LeNet5 for 28 x 28 grey images."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def conv4(width: int = 64) -> nn.Module:
    """Four blocks for 32 x 32 colour images."""
    layers, inputs = [], 3
    for _ in range(4):
        layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                   nn.MaxPool2d(2)]  # fmt: skip
        inputs = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4 * width, 10))


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.inside = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.short = nn.Sequential()
        if inputs != outputs:
            self.short = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        return nn.functional.relu(self.short(x) + self.inside(x))


def resnet(filters: int) -> nn.Module:
    """ResNet-18 for 32 x 32 colour images with so many filters at first."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU()
    ]  # fmt: skip
    inputs = filters
    for stage in range(4):
        for block in range(2):
            outputs = filters * 2**stage
            layers.append(_Block(inputs, outputs, 2 if stage > 0 and block == 0 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))
