"""
Tensors, on a GPU or not
========================

A model learns from tensors where they are: on a GPU its sums, products and factors are computed there, and
what it has learned are tensors on that GPU. The answers are those of NumPy's arrays. Here the device is the
GPU that torch finds, or the CPU; without torch, the strict arrays of the array API stand for tensors.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.kernels import RBF, Scaled, White

if find_spec("torch"):
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"

    def tensor(x):
        return torch.asarray(np.array(x), device=device)
else:
    from array_api_strict import asarray as tensor

# %%
# The eruptions of Old Faithful, as tensors. A mixture: the E-step runs on the device, the M-step, of a few
# numbers, on the host. What users read is on the device, and ``numpy()`` brings a copy of the model back.
eruptions = tractable.datasets.load("old_faithful").frame.to_numpy()
rows = tensor(eruptions)
mixture = tractable.GaussianMixture(2, random_state=0).fit(rows)
host = tractable.GaussianMixture(2, random_state=0).fit(eruptions)
back = mixture.numpy()
print("means are a", type(mixture.means_).__name__, "- labels are a", type(mixture.predict(rows)).__name__)
print(f"largest difference to the host: {np.abs(back.means_ - host.means_).max():.0e}")

# %%
# A Gaussian process: the covariance of the rows, its factor, and its inverse for the gradient of the evidence
# are one matrix on the device, overwritten in place: as many rows fit as there is memory for one.
waiting, duration = rows[::3, 1:], rows[::3, 0]  # a third of them
process = tractable.GaussianProcessRegressor(Scaled(RBF(10.0)) + White(0.1)).fit(waiting, duration)
grid = np.linspace(40.0, 100.0, 200)[:, None]
mean, stddev = (np.asarray(x) for x in process.numpy().predict(grid, return_std=True))
print("kernel:", process.kernel_)

# %%
# Both came from the device; the pictures are drawn on the host.
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
tractable.plot(back, data=eruptions, ax=axes[0])
axes[0].set_title("a mixture of two")
axes[1].plot(eruptions[::3, 1], eruptions[::3, 0], ".", color="0.6")
axes[1].plot(grid[:, 0], mean)
axes[1].fill_between(grid[:, 0], mean - 2.0 * stddev, mean + 2.0 * stddev, alpha=0.2)
axes[1].set(title="a Gaussian process", xlabel="waiting", ylabel="duration")
plt.show()
