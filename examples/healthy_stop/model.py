# SPDX-License-Identifier: BSD-3-Clause
"""Two linear layers with a relu between them: constants in the package, nothing wrong."""
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
program = torch.export.export(model, (torch.ones(512, 128),))
torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[1]}/model.pt2")
