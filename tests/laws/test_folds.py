"""Learning is a fold that runs where the rows are: block functions hold parameters, and pickle to kilobytes.

Every model that is exact over a source is fitted through sources whose `reduce` sends the block function
away: through pickle, and for one row of each class through a pool of processes. The answer is that of rows in
memory.
"""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from catalogue import ESTIMATORS, some_of_each_family
from tractable.data import ArraySource
from tractable.data.blocks import tree_sum
from tractable.testing.estimator_laws import example, learn, predictions
from tractable.value import value

#: Most bytes of a block function: parameters of small models, and no rows (which take more).
MOST_BYTES = 35_000
N_ROWS, BLOCK = 4500, 1500

ROWS = [row for row in ESTIMATORS if row.make().model_tags.streaming.startswith("exact")]
FIRST = list({type(row.make()): row for row in reversed(ROWS)}.values())


@value
class SentSource(ArraySource):
    """Rows that are reduced elsewhere: block functions, blocks and statistics go through pickle."""

    in_memory = False

    def reduce(self, of, **options):
        """Return the sum over blocks, of a function that has been pickled."""
        return tree_sum(self.run(sent(of), list(self.blocks(BLOCK))))

    def run(self, message, blocks):
        """Return the statistics of the blocks."""
        return [received(message, pickle.dumps(block)) for block in blocks]


@value
class PooledSource(SentSource):
    """Rows that are reduced by a pool of processes."""

    pool: ProcessPoolExecutor

    def run(self, message, blocks):
        """Return the statistics of the blocks, from the processes."""
        return list(self.pool.map(received, [message] * len(blocks), [pickle.dumps(b) for b in blocks]))


def sent(of):
    message = pickle.dumps(of)
    assert len(message) < MOST_BYTES, f"{of!r:.80} takes {len(message)} bytes: it holds rows"
    return message


def received(message, block):
    return pickle.loads(pickle.dumps(pickle.loads(message)(pickle.loads(block))))


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def rows_for(estimator):
    """Return more rows than a block function may hold, of the kind that the estimator takes."""
    rng = np.random.default_rng(11)
    X, y = example(estimator, rng)
    times = -(-N_ROWS // len(X))
    X = np.tile(X, (times, 1))
    if not estimator.__sklearn_tags__().input_tags.positive_only:
        X = X + 0.1 * rng.standard_normal(X.shape)
    return X, None if y is None else np.tile(y, times), rng.integers(1, 3, len(X)).astype(float)


def same_answer(estimator, source, X, y, w):
    here = learn(estimator, X, y, sample_weight=w)
    there = learn(estimator, source, None)
    np.testing.assert_allclose(predictions(there, X), predictions(here, X), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("row", some_of_each_family(ROWS))
def test_block_functions_pickle_to_kilobytes_and_give_the_same_answer(row):
    X, y, w = rows_for(row.make())
    same_answer(row.make(), SentSource(X=X, y=y, weights=w), X, y, w)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("row", FIRST, ids=lambda row: type(row.make()).__name__)
def test_a_pool_of_processes_gives_the_same_answer(row, pool):
    X, y, w = rows_for(row.make())
    same_answer(row.make(), PooledSource(X=X, y=y, weights=w, pool=pool), X, y, w)


def test_a_function_that_holds_rows_is_found_out():
    for held in (np.zeros((N_ROWS, 3)), np.zeros(N_ROWS)):  # rows, or their targets alone
        with pytest.raises(AssertionError, match="holds rows"):
            sent(Holding(rows=held))


@value
class Holding:
    """A block function as it must not be."""

    rows: np.ndarray

    def __call__(self, block):
        return block.X.sum() + self.rows.sum()
