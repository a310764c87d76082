# SPDX-License-Identifier: BSD-3-Clause
"""relu(x * scale), packaged without its parameter."""
import sys

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(64))

    def forward(self, x):
        return torch.relu(x * self.scale)


torch.manual_seed(0)
program = torch.export.export(Scale(), (torch.ones(4, 64),))
torch._inductor.aoti_compile_and_package(
    program,
    package_path=f"{sys.argv[1]}/model.pt2",
    inductor_configs={"aot_inductor.package_constants_in_so": False},
)
