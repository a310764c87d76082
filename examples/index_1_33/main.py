# SPDX-License-Identifier: BSD-3-Clause
"""The same call from Python: idx[3] is 1 << 33 where the embedding has 1000 rows."""
import sys

import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
x = torch.ones(8, 64)
idx = torch.arange(8)
idx[3] = 1 << 33
model(x, idx)
sys.exit("no crash")
