"""Sequences of different lengths, packed and padded again."""

# Annotated with typing's List and Dict, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import Tuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from .table import case, noise


def _lengths(*lengths: int) -> Tensor:
    return torch.tensor(lengths)


SORTED = (
    (noise(3, 5, 4), _lengths(5, 3, 2)),
    (noise(2, 7, 4), _lengths(6, 6)),
    (noise(1, 3, 4), _lengths(1)),
)
UNSORTED = (
    (noise(3, 5, 4), _lengths(2, 5, 3)),
    (noise(2, 7, 4), _lengths(4, 6)),
    (noise(4, 3, 4), _lengths(1, 2, 1, 3)),
)


@case(*SORTED)
class PackedLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(4, 3, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        packed, (hidden, cell) = self.layers(packed)
        padded, found = pad_packed_sequence(packed, batch_first=True)
        return padded, found, hidden, cell


@case(*UNSORTED)
class PackedGruBothWays(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.GRU(4, 3, 2, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        packed = pack_padded_sequence(x.transpose(0, 1), lengths, enforce_sorted=False)
        packed, hidden = self.layers(packed)
        padded, found = pad_packed_sequence(packed, padding_value=-1.5)
        return padded, found, hidden


@case(*UNSORTED)
class PackedRnnOfAllSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.RNN(4, 3, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        packed, hidden = self.layers(packed)
        padded, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.size(1))
        return padded, hidden


@case(*SORTED)
class PackedToNineSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.GRU(4, 3, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed, _ = self.layers(pack_padded_sequence(x, lengths, batch_first=True))
        return pad_packed_sequence(packed, batch_first=True, total_length=9)[0]


@case(*SORTED)
class PackedWithState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(4, 3, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        start = torch.ones(1, x.size(0), 3)
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        packed, (hidden, _) = self.layers(packed, (start, start * 2))
        return pad_packed_sequence(packed, batch_first=True)[0], hidden


@case(*UNSORTED)
class PackedStack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.second = nn.GRU(6, 2, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        packed, hidden = self.second(self.first(packed)[0])
        return pad_packed_sequence(packed, batch_first=True)[0].mean(1), hidden


@case(*SORTED)
class PackedRows(nn.Module):
    """What the layers give goes through another one, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(4, 3, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        packed, _ = self.layers(pack_padded_sequence(x, lengths, batch_first=True))
        rows = PackedSequence(
            torch.relu(self.head(packed.data)),
            packed.batch_sizes,
            packed.sorted_indices,
            packed.unsorted_indices,
        )
        padded, _ = pad_packed_sequence(rows, batch_first=True)
        return padded, packed.data, packed.batch_sizes
