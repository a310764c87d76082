# SPDX-License-Identifier: BSD-3-Clause
"""Two models of two parameters each, packaged without them: an op (linear) and a fused kernel."""
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
for name, model, width in (("op", torch.nn.Linear(128, 64), 128), ("kernel", ScaleShift(), 256)):
    torch._inductor.aoti_compile_and_package(
        torch.export.export(model, (torch.ones(4, width),)),
        package_path=f"{sys.argv[1]}/{name}.pt2",
        inductor_configs={"aot_inductor.package_constants_in_so": False},
    )
