# SPDX-License-Identifier: BSD-3-Clause
"""x * 2 + 1 compiled for exactly 64 Mi floats (256 MiB)."""
import sys

import torch


class Affine(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1


program = torch.export.export(Affine(), (torch.ones(64 * 1024 * 1024),))
torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[1]}/model.pt2")
