"""The functions of `tractable.primitives.state_space` in NumPy, which fill the arrays given last."""

import numpy as np


def kalman_filter(
    transitions: np.ndarray,
    noises: np.ndarray,
    observed: np.ndarray,
    y: np.ndarray,
    variances: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    innovations: np.ndarray,
    spreads: np.ndarray,
    gains: np.ndarray,
) -> None:
    s = len(observed)
    mean, covariance = np.zeros((s, y.shape[1])), np.zeros((s, s))
    for k, (step, noise) in enumerate(zip(transitions, noises, strict=True)):
        mean = step @ mean
        covariance = step @ covariance @ step.T + noise
        shared = covariance @ observed
        innovations[k] = y[k] - observed @ mean
        spreads[k] = observed @ shared + variances[k]
        gains[k] = shared / spreads[k]
        mean = mean + np.multiply.outer(gains[k], innovations[k])
        covariance = covariance - np.multiply.outer(gains[k], shared)
        covariance = 0.5 * (covariance + covariance.T)
        means[k], covariances[k] = mean, covariance


def smoothing_sums(
    transitions: np.ndarray,
    observed: np.ndarray,
    innovations: np.ndarray,
    variances: np.ndarray,
    gains: np.ndarray,
    slopes: np.ndarray,
    curvatures: np.ndarray,
    dual: np.ndarray,
    precisions: np.ndarray,
) -> None:
    n, s = gains.shape
    slope, curvature = np.zeros(slopes.shape[1:]), np.zeros((s, s))
    for k in range(n - 1, -1, -1):
        shared = curvature @ gains[k]
        dual[k] = innovations[k] / variances[k] - gains[k] @ slope
        precisions[k] = 1.0 / variances[k] + gains[k] @ shared
        slope = slope + np.multiply.outer(observed, dual[k])
        cross = np.multiply.outer(observed, shared)
        curvature = curvature - cross - cross.T + precisions[k] * np.multiply.outer(observed, observed)
        slopes[k], curvatures[k] = slope, curvature
        slope = transitions[k].T @ slope
        curvature = transitions[k].T @ curvature @ transitions[k]
