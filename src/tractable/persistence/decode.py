"""From a tree back to the object: the inverse of `encode`, believing nothing."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.persistence.archive import ARRAY_KINDS, Archive
from tractable.persistence.encode import PLAIN, is_key
from tractable.persistence.names import Registry, is_fitted_name

__all__ = ["decode"]


def decode(tree: Any, archive: Archive, registry: Registry) -> Any:
    """Return the object of a tree."""
    found = _Decoder(archive, registry).item(tree)
    archive.finish()
    return found


class _Decoder:
    def __init__(self, archive: Archive, registry: Registry) -> None:
        self._archive = archive
        self._registry = registry

    def item(self, node: Any) -> Any:
        """Return the object of one node."""
        if isinstance(node, list):
            return [self.item(part) for part in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise ValueError(f"a node has {len(node)} tags")
        [(tag, content)] = node.items()
        if tag not in _READERS:
            raise ValueError(f"a node has the unknown tag {tag!r}")
        return _READERS[tag](self, content)

    def read_float(self, content: Any) -> float:
        if content not in ("inf", "-inf", "nan"):
            raise ValueError(f"{content!r} is not a float")
        return float(content)

    def read_complex(self, content: Any) -> complex:
        return complex(*_expect(self._items(content, 2), float))

    def read_tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self._items(content))

    def read_slice(self, content: Any) -> slice:
        return slice(*self._items(content, 3))

    def read_range(self, content: Any) -> range:
        return range(*_expect(self._items(content, 3), int))

    def read_dict(self, content: Any) -> dict[Any, Any]:
        pairs = [self._items(pair, 2) for pair in _expect([content], list)[0]]
        for key, _ in pairs:
            if not is_key(key):
                raise ValueError(f"a dictionary has the key {key!r}")
        return dict(pairs)

    def read_array(self, content: Any) -> np.ndarray:
        return self._archive.take(content)

    def read_objects(self, content: Any) -> np.ndarray:
        shape, items = self._items(content, 2)
        _expect(_expect([shape], list)[0], int)
        _expect(items, *PLAIN)
        if any(length < 0 for length in shape) or math.prod(shape) != len(items):
            raise ValueError(f"an object array of shape {shape} has {len(items)} items")
        flat = np.empty(len(items), dtype=object)
        flat[:] = items
        return flat.reshape(shape)

    def read_scalar(self, content: Any) -> Any:
        letters, digits = _expect(self._items(content, 2), str)
        dtype, data = np.dtype(letters[:32]), bytes.fromhex(digits)
        if dtype.kind not in ARRAY_KINDS or dtype.itemsize != len(data):
            raise ValueError(f"a scalar of dtype {letters} has {len(data)} bytes")
        return np.ndarray((), dtype, buffer=data)[()] if data else np.zeros((), dtype)[()]

    def read_class(self, content: Any) -> type:
        return self._registry.value(content)

    def read_value(self, content: Any) -> Any:
        name, given = _parts(content, "class", "parameters")
        return _built(self._registry.value(name), self._named(given))

    def read_estimator(self, content: Any) -> Any:
        name, given, learned = _parts(content, "class", "parameters", "attributes")
        for attribute in learned:
            if not is_fitted_name(attribute) or attribute in given:
                raise ValueError(f"{name} has no learned attribute {attribute!r}")
        estimator = _built(self._registry.estimator(name), self._named(given))
        vars(estimator).update(self._named(learned))
        return estimator

    def _items(self, content: Any, length: int | None = None) -> list[Any]:
        if not isinstance(content, list) or len(content) != (len(content) if length is None else length):
            raise ValueError(f"{str(content)[:60]} is not a list of the right length")
        return [self.item(part) for part in content]

    def _named(self, items: dict[str, Any]) -> dict[str, Any]:
        return {name: self.item(node) for name, node in items.items()}


def _built(cls: type, given: dict[str, Any]) -> Any:
    try:
        return cls(**given)
    except Exception as error:
        raise ValueError(f"{cls.__name__} refused its parameters: {error}") from error


def _parts(content: Any, *names: str) -> list[Any]:
    if not isinstance(content, dict) or tuple(content) != names:
        raise ValueError(f"{str(content)[:60]} does not have the names {names}")
    for name in names[1:]:
        _expect([content[name]], dict)
    return [content[name] for name in names]


def _expect(items: list[Any], *types: type) -> list[Any]:
    for item in items:
        if type(item) not in types:
            raise ValueError(f"{str(item)[:60]} is not {' or '.join(cls.__name__ for cls in types)}")
    return items


_READERS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "float": _Decoder.read_float,
    "complex": _Decoder.read_complex,
    "tuple": _Decoder.read_tuple,
    "slice": _Decoder.read_slice,
    "range": _Decoder.read_range,
    "dict": _Decoder.read_dict,
    "array": _Decoder.read_array,
    "objects": _Decoder.read_objects,
    "scalar": _Decoder.read_scalar,
    "class": _Decoder.read_class,
    "value": _Decoder.read_value,
    "estimator": _Decoder.read_estimator,
}
