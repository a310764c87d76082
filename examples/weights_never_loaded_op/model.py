# SPDX-License-Identifier: BSD-3-Clause
"""One linear layer without a bias, packaged without its weight."""
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Linear(128, 64, bias=False)
program = torch.export.export(model, (torch.ones(8, 128),))
torch._inductor.aoti_compile_and_package(
    program,
    package_path=f"{sys.argv[1]}/model.pt2",
    inductor_configs={"aot_inductor.package_constants_in_so": False},
)
