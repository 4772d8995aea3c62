"""Tables of probabilities over named discrete variables, the events of one, and factors of them."""
