# SPDX-License-Identifier: BSD-3-Clause
"""A small healthy model: a linear layer and a relu."""
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU())
program = torch.export.export(model, (torch.ones(8, 128),))
torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[1]}/model.pt2")
