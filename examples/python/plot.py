#!/usr/bin/env python3
"""plot.py DATASET [PICTURE [VARIABLE]]   Draw a 2-D variable of a dataset at four times, and its mean over time.

Uses tutti.open and matplotlib, without MPI and the library.
SPDX-License-Identifier: BSD-3-Clause"""
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import tutti  # noqa: E402

# %% open the dataset
run = tutti.open(sys.argv[1])
print(run)
name = sys.argv[3] if len(sys.argv) > 3 else next(n for n in run if len(run[n].shape) == 3)
field = run[name]  # the dimensions are time, rows and columns; nothing is read yet

# %% draw four times; each is read when it is drawn
chosen = np.unique(np.linspace(0, len(field) - 1, 4).round().astype(int))
figure, axes = plt.subplots(1, len(chosen) + 1, figsize=(3.2 * (len(chosen) + 1), 3), layout="constrained")
low, high = field[0].min(), field[0].max()
for axis, at in zip(axes, chosen):
    image = axis.imshow(field[at], vmin=low, vmax=high, cmap="inferno", origin="lower")
    axis.set(title=f"time {field.times[at]:g}", xticks=[], yticks=[])
figure.colorbar(image, ax=axes[:-1], label=f"{field.long_name or name} [{field.units or '1'}]", shrink=0.8)

# %% draw the value in the middle over time
axes[-1].plot(field.times, field[:, field.shape[1] // 2, field.shape[2] // 2], "o-", color="tab:red")
axes[-1].set(title="in the middle", xlabel="time", ylabel=field.units)
figure.savefig(sys.argv[2] if len(sys.argv) > 2 else "plot.png", dpi=80)
