"""What pictures show is what the models say: ellipses, bars, regions, curves, edges."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import tractable
from tractable.distributions import Multinomial, MultivariateNormal, NormalWishart, Wishart
from tractable.plotting.regions import ellipse_points, mahalanobis_radius
from tractable.spatial import KDTree

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 5.0], columns=["width", "height"])


def line_called(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_ellipses_hold_what_they_say(scale):
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    ring = ellipse_points([1.0, -2.0], covariance, mahalanobis_radius(0.9)) - [1.0, -2.0]
    squared = np.sum(ring @ np.linalg.inv(covariance) * ring, axis=1)
    np.testing.assert_allclose(squared, -2.0 * np.log(0.1), rtol=1e-9)
    units = np.array([scale, 1.0])
    other = ellipse_points([0.0, 0.0], covariance * units * units[:, None], mahalanobis_radius(0.9))
    np.testing.assert_allclose(other / units, ring, rtol=1e-9)


def test_a_gaussian_of_columns_far_apart_in_scale_has_its_ellipse():
    far = MultivariateNormal(mean=[0.0, 1e100], covariance=[[1e-200, 0.5], [0.5, 1e200]])
    ring = line_called(tractable.plot(far), "90%").get_xydata()
    white = (ring - far.mean) / [1e-100, 1e100]
    squared = np.sum(white @ np.linalg.inv([[1.0, 0.5], [0.5, 1.0]]) * white, axis=1)
    np.testing.assert_allclose(squared, -2.0 * np.log(0.1), rtol=1e-6)


def test_each_member_of_a_batch_has_its_region():
    """Of Gaussians it is an ellipse, up to the grid and the draws."""
    batch = MultivariateNormal(mean=[[0.0, 0.0], [9.0, 1.0]], covariance=[np.eye(2), 4.0 * np.eye(2)])
    ax = tractable.plot(batch, labels=["before", "after"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before, 90%", "after, 90%"]
    for drawn, mean, size in zip(ax.collections, batch.mean, (1.0, 2.0), strict=True):
        (path,) = drawn.get_paths()
        radii = np.linalg.norm(path.vertices - mean, axis=1) / size
        np.testing.assert_allclose(radii, mahalanobis_radius(0.9), rtol=0.06)


def test_matrices_are_drawn_as_ellipses():
    belief = Wishart(dof=7.0, scale=[[1.0, 0.3], [0.3, 0.5]])
    ring = line_called(tractable.plot(belief), "mean").get_xydata()
    np.testing.assert_allclose(np.sum(ring @ np.linalg.inv(belief.mean) * ring, axis=1), 1.0)
    joint = NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=8.0, scale=[[1.0, 0.3], [0.3, 0.5]])
    ring = line_called(tractable.plot(joint), "50% of the mean").get_xydata() - [1.0, -1.0]
    squared = np.sum(ring @ joint.mean.precision * ring, axis=1)
    np.testing.assert_allclose(squared, 2.0 * np.log(2.0))


def test_counts_are_bars_with_their_intervals():
    counts = Multinomial(n_trials=12, probabilities=[0.2, 0.5, 0.3])
    ax = tractable.plot(counts, names=["a", "b", "c"], data=[[2, 6, 4]])
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], counts.mean)
    (bars,) = ax.collections
    found = np.array(bars.get_segments())[:, :, 1]
    np.testing.assert_allclose(found, np.stack(counts.marginals.interval(0.9), axis=-1))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "c"]


def test_clusters_of_one_column_have_edges_half_way():
    model = tractable.KMeans(3, random_state=0).fit(FRAME[["width"]])
    ax = tractable.plot(model, data=FRAME[["width"]])
    centres = np.sort(model.cluster_centers_[:, 0])
    edges = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(edges, 0.5 * (centres[1:] + centres[:-1]))
    np.testing.assert_allclose(np.sort(line_called(ax, "centres").get_xdata()), centres)
    assert ax.get_xlabel() == "width"


def test_the_objective_of_every_iteration_is_drawn():
    model = tractable.GaussianMixture(2, random_state=0).fit(FRAME)
    heights = tractable.plot(model, show="objective").lines[0].get_ydata()
    np.testing.assert_array_equal(heights, model.objective_trace_)
    with pytest.raises(ValueError, match="show must be one of density, objective"):
        tractable.plot(model, show="stairs")


def test_bases_are_drawn_by_their_names():
    basis = tractable.GaussianBasis(4).fit(FRAME)
    ax = tractable.plot(basis, data=FRAME, dims=["height"])
    assert ax.get_xlabel() == "height"
    at = pd.DataFrame({"width": FRAME["width"].median(), "height": ax.lines[0].get_xdata()})
    values = pd.DataFrame(basis.transform(at), columns=basis.get_feature_names_out())
    for line in ax.lines:
        np.testing.assert_allclose(line.get_ydata(), values[line.get_label()])


def test_neighbours_are_linked():
    model = tractable.NearestNeighbors(n_neighbors=2).fit(FRAME)
    ax = tractable.plot(model, data=FRAME.iloc[:3] + 0.01)
    near = model.kneighbors(FRAME.iloc[:3] + 0.01, return_distance=False)
    ends = np.array(ax.collections[0].get_segments())[:, 1]
    np.testing.assert_allclose(ends, FRAME.to_numpy()[near.ravel()])


def test_an_index_of_more_columns_is_drawn_as_its_points():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    ax = tractable.plot(KDTree(rows), row=rows[0], k=2)
    assert ax.get_title() == "the 2 nearest; x0 and x1, of 3 columns"


def test_parts_of_an_evidence_add_up():
    parts = tractable.decompose_evidence(np.full((9, 2), 0.5), np.log(np.full((9, 2), [0.1, 0.3])))
    bars = tractable.plot(parts).patches
    tops = [bar.get_y() + bar.get_height() for bar in bars]
    np.testing.assert_allclose(tops, [parts.bound, parts.evidence, parts.expected_complete, parts.bound])


@pytest.mark.filterwarnings("ignore:the covariance is singular")
@pytest.mark.parametrize("model", [tractable.GaussianDensity(), tractable.KMeans(2, random_state=0)])
def test_a_constant_column_is_drawn(model):
    flat = FRAME.assign(height=3.0)
    ax = tractable.plot(model.fit(flat), data=flat)
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    assert low < 3.0 < high


@pytest.mark.filterwarnings("ignore:.*:tractable.base.DegenerateCovarianceWarning")
def test_the_density_of_a_column_that_hardly_varies_is_drawn(rng):
    X = np.column_stack([np.zeros(50), rng.poisson(0.1, 50), rng.standard_normal(50)])
    ax = tractable.plot(tractable.AdaptiveKernelDensity().fit(X), dims=[0, 1])
    assert len(ax.collections) > 0
