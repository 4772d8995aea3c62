"""
Digits denoised by PCA and by kernel PCA
========================================

Handwritten digits, 8 × 8, with noise. Projecting on the leading components removes what is not in their
span. Straight directions must hold every style of every digit; in the features of a Gaussian kernel the
projection stays near digits that were seen. Going back from features to pixels is a search for a pre-image:
a fixed point, a weighted mean of the digits of the fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import tractable
from tractable.kernels import RBF

rng = np.random.default_rng(0)
X = load_digits().data[:700]
clean = load_digits().data[700:780]
noisy = clean + 4.0 * rng.standard_normal(clean.shape)

pca = tractable.PCA(16).fit(X)
kernel_pca = tractable.KernelPCA(60, kernel=RBF(20.0)).fit(X)
denoised = {"noisy": noisy, "PCA": pca.denoise(noisy), "kernel PCA": kernel_pca.denoise(noisy)}
error = {name: float(np.mean((rows - clean) ** 2)) for name, rows in denoised.items()}
for name, found in error.items():
    print(f"{name}: mean squared error {found:.1f}")

# %%
fig, axes = plt.subplots(4, 10, figsize=(9, 4), layout="constrained")
for rows, (name, images) in zip(axes, {"clean": clean, **denoised}.items(), strict=True):
    for ax, image in zip(rows, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    rows[0].set_ylabel(name)
