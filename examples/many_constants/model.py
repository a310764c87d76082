# SPDX-License-Identifier: BSD-3-Clause
"""A hundred blocks of two parameters each, then an embedding without checks: 201 constants."""
import sys

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(64))
        self.shift = torch.nn.Parameter(torch.rand(64))

    def forward(self, x):
        return x * self.scale + self.shift


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(100))
        self.emb = torch.nn.Embedding(1000, 64)

    def forward(self, x, idx):
        for block in self.blocks:
            x = block(x)
        return x + self.emb(idx)


torch.manual_seed(0)
program = torch.export.export(Tower(), (torch.ones(8, 64), torch.arange(8)))
torch._inductor.aoti_compile_and_package(
    program,
    package_path=f"{sys.argv[1]}/model.pt2",
    inductor_configs={"assert_indirect_indexing": False},
)
