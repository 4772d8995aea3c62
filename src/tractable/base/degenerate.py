"""What is said of covariances that rows leave singular."""

__all__ = ["DegenerateCovarianceWarning"]


class DegenerateCovarianceWarning(UserWarning):
    """The covariance is singular; what was added to its diagonal is in `jitter_`."""
