# SPDX-License-Identifier: BSD-3-Clause
"""relu(x * scale + shift), one fused kernel, packaged without its parameters."""
import sys

import torch


class ScaleShift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(256))
        self.shift = torch.nn.Parameter(torch.randn(256))

    def forward(self, x):
        return torch.relu(x * self.scale + self.shift)


torch.manual_seed(0)
program = torch.export.export(ScaleShift(), (torch.ones(4, 256),))
torch._inductor.aoti_compile_and_package(
    program,
    package_path=f"{sys.argv[1]}/model.pt2",
    inductor_configs={"aot_inductor.package_constants_in_so": False},
)
