"""Mean shift: clustering by the modes of a kernel density estimate."""
