# SPDX-License-Identifier: BSD-3-Clause
"""A model of 201 constants; idx[5] is 1 << 33 where the embedding has 1000 rows."""
import sys

import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
x = torch.ones(8, 64)
idx = torch.arange(8)
idx[5] = 1 << 33
model(x, idx)
sys.exit("no crash")
