# SPDX-License-Identifier: BSD-3-Clause
"""Run with -X faulthandler, which prints the Python stack and raises the signal again.

The core then says that the process sent the signal to itself; the fault is in the signal frame.
"""
import sys

import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(4, 64))
sys.exit("no crash")
