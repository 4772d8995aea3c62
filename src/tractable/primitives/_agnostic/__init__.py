"""The same functions in the array API: for every library, and the oracle of the compiled ones."""
