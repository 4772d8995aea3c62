"""A kernel of one's own may return matrices in Fortran order, or of single precision."""

import numpy as np
import pytest

import tractable
from tractable import kernels


class ByColumns(kernels.RBF):
    """Matrices in Fortran order."""

    def __call__(self, *given):
        return np.asfortranarray(super().__call__(*given))

    def lower_triangle(self, x):
        return np.asfortranarray(super().lower_triangle(x))


class Single(kernels.RBF):
    """Matrices in single precision."""

    def __call__(self, *given):
        return super().__call__(*given).astype(np.float32)

    def lower_triangle(self, x):
        return super().lower_triangle(x).astype(np.float32)


@pytest.mark.parametrize(("kind", "atol"), [(ByColumns, 1e-10), (Single, 1e-3)])
def test_processes_are_those_of_other_matrices(kind, atol, rng):
    x = rng.uniform(size=(60, 1))
    for model, y in (
        (tractable.GaussianProcessRegressor, np.sin(6.0 * x[:, 0]) + 0.1 * rng.standard_normal(60)),
        (tractable.GaussianProcessClassifier, x[:, 0] + 0.3 * rng.standard_normal(60) > 0.5),
    ):
        options = {"optimizer": None} | ({"noise_variance": 0.1} if "Reg" in model.__name__ else {})
        mine, plain = (model(kernel, **options).fit(x, y) for kernel in (kind(0.3), kernels.RBF(0.3)))
        answer = "predict" if "Reg" in model.__name__ else "predict_proba"
        np.testing.assert_allclose(getattr(mine, answer)(x), getattr(plain, answer)(x), atol=atol)
