# SPDX-License-Identifier: BSD-3-Clause
"""An embedding without checks of its indices, and a batch of any size from 2 to 1024."""
import sys

import torch


class Embed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(1000, 64)

    def forward(self, x, idx):
        return self.emb(idx) + x


torch.manual_seed(0)
batch = torch.export.Dim("batch", min=2, max=1024)
program = torch.export.export(
    Embed(),
    (torch.ones(8, 64), torch.arange(8)),
    dynamic_shapes={"x": {0: batch}, "idx": {0: batch}},
)
torch._inductor.aoti_compile_and_package(
    program,
    package_path=f"{sys.argv[1]}/model.pt2",
    inductor_configs={"assert_indirect_indexing": False},
)
