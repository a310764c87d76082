# SPDX-License-Identifier: BSD-3-Clause
"""Serves an AOTInductor model: reads numbers, a line each, and answers each with what the model makes of it.

    server.py PACKAGE

The package is that of examples/healthy_stop: float32 [512, 128] in, [512, 64] out. Ends when its input does.
"""
import sys

import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
for line in sys.stdin:
    number = int(line)
    output = model(torch.full((512, 128), float(number % 97)))
    output = output[0] if isinstance(output, (list, tuple)) else output
    print(number, output.double().sum().item().hex(), flush=True)
