# SPDX-License-Identifier: BSD-3-Clause
"""Two packages: a healthy linear layer, and an embedding without checks of its indices."""
import sys

import torch


class Lookup(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(500, 32)

    def forward(self, idx):
        return self.table(idx) * 0.5


torch.manual_seed(0)
for name, model, inputs in (
    ("first", torch.nn.Linear(32, 32), (torch.ones(4, 32),)),
    ("second", Lookup(), (torch.arange(8),)),
):
    torch._inductor.aoti_compile_and_package(
        torch.export.export(model, inputs),
        package_path=f"{sys.argv[1]}/{name}.pt2",
        inductor_configs={"assert_indirect_indexing": False},
    )
