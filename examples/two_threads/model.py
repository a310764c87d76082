# SPDX-License-Identifier: BSD-3-Clause
"""Two packages: one that keeps a thread busy for a while, and an embedding without checks."""
import sys

import torch


class Lookup(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(500, 32)

    def forward(self, idx):
        return self.table(idx) * 0.5


class Busy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(1024, 1024) / 32)

    def forward(self, x):
        for _ in range(8):
            x = torch.tanh(x @ self.weight)
        return x


torch.manual_seed(0)
for name, model, inputs in (
    ("busy", Busy(), (torch.ones(1024, 1024),)),
    ("lookup", Lookup(), (torch.arange(8),)),
):
    torch._inductor.aoti_compile_and_package(
        torch.export.export(model, inputs),
        package_path=f"{sys.argv[1]}/{name}.pt2",
        inductor_configs={"assert_indirect_indexing": False},
    )
