# SPDX-License-Identifier: BSD-3-Clause
"""x * 2 + 1 over 4096 floats (16 KiB)."""
import sys

import torch


class Affine(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1


program = torch.export.export(Affine(), (torch.ones(4096),))
torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[1]}/model.pt2")
