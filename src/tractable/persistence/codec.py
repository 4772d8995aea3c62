"""Objects as a tree of JSON and a list of arrays, and back.

JSON's own scalars and lists stand for themselves; everything else is a dictionary of one tag.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from tractable.arrays.namespace import is_foreign_array, to_numpy
from tractable.persistence import earlier
from tractable.persistence.archive import ARRAY_KINDS, Archive
from tractable.persistence.guarantees import check_guarantees, check_value
from tractable.persistence.names import (
    SKLEARN_STATE,
    Registry,
    is_estimator,
    is_fitted_name,
    is_value,
    name_of,
)
from tractable.persistence.scikit_learn import arguments, is_splitter, row_of
from tractable.value import parameters

#: What an object array may hold.
PLAIN = (str, int, float, bool, type(None), Fraction)
_MAX_DEPTH = 100
_DTYPE_KINDS = f"{ARRAY_KINDS}O"  # of dtypes by themselves; arrays of objects are written item by item
_MAX_RANGE = 1 << 16  # entries of all ranges given to classes: a constructor makes an array of a few bytes
_MAX_ITEM = 1 << 16  # bytes of one entry of a dtype that stands by itself
_MAX_BITS = 8192  # of an integer; Python reads back decimal numbers of 4300 digits


def encode(obj: Any) -> tuple[Any, list[np.ndarray]]:
    """Return the tree and the arrays of an object, or one ValueError that says what cannot be saved."""
    encoder = _Encoder()
    return encoder.node(obj, type(obj).__name__), encoder.arrays


def is_key(x: Any) -> bool:
    """Whether a dictionary may have x as a key: a string, a number, or a tuple of keys."""
    if type(x) is tuple:
        return all(is_key(part) for part in x)
    return type(x) in PLAIN or isinstance(x, np.generic)


class RangeBudget:
    """How many entries ranges may have where classes are given them; elsewhere they may have any number.

    A range is three numbers in a file, and a constructor may make an array of its entries.
    """

    def __init__(self) -> None:
        self._left = _MAX_RANGE
        self._depth = 0

    @contextmanager
    def given(self) -> Iterator[None]:
        """Count the ranges that are read or written inside: they are given to a class."""
        self._depth += 1
        yield
        self._depth -= 1

    def spend(self, x: range) -> None:
        """Count a range, and refuse it where it is beyond what is left."""
        if not self._depth:
            return
        n_entries = max(-((x.start - x.stop) // x.step), 0)  # which may be too large for `len`
        self._left -= n_entries
        if self._left < 0:
            raise ValueError(f"ranges given to a class have more than {_MAX_RANGE} entries")


class _Encoder:
    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._around: list[int] = []  # the identities of the containers we are inside of
        self._ranges = RangeBudget()

    def node(self, x: Any, path: str) -> Any:
        """Return the node of one object; the path is only for the message of a refusal."""
        if id(x) in self._around:
            raise ValueError(f"cannot save {path}: it contains itself")
        if len(self._around) >= _MAX_DEPTH:
            raise ValueError(f"cannot save {path}: it is nested more than {_MAX_DEPTH} deep")
        self._around.append(id(x))
        node = self._writer(x)(self, x, path)
        self._around.pop()
        return node

    @staticmethod
    def _writer(x: Any) -> Callable[["_Encoder", Any, str], Any]:
        cls = type(x)
        if cls in _WRITERS:  # exact types: a subclass would come back as something else
            return _WRITERS[cls]
        return next((write for admits, write in _KINDS if admits(x)), _Encoder.refuse)

    def write_itself(self, x: Any, path: str) -> Any:
        return x

    def write_int(self, x: int, path: str) -> Any:
        if x.bit_length() > _MAX_BITS:
            raise ValueError(f"cannot save {path}: it is an integer of more than {_MAX_BITS} bits")
        return x

    def write_float(self, x: float, path: str) -> Any:
        return x if math.isfinite(x) else {"float": repr(x)}

    def write_complex(self, x: complex, path: str) -> Any:
        return {"complex": [self.write_float(x.real, path), self.write_float(x.imag, path)]}

    def write_fraction(self, x: Fraction, path: str) -> Any:
        return {"fraction": [self.write_int(x.numerator, path), self.write_int(x.denominator, path)]}

    def write_list(self, x: Any, path: str) -> Any:
        return [self.node(item, f"{path}[{index}]") for index, item in enumerate(x)]

    def write_tuple(self, x: Any, path: str) -> Any:
        return {"tuple": self.write_list(x, path)}

    def write_slice(self, x: slice, path: str) -> Any:
        return {"slice": self.write_list([x.start, x.stop, x.step], path)}

    def write_range(self, x: range, path: str) -> Any:
        try:
            self._ranges.spend(x)
        except ValueError as error:
            raise ValueError(f"cannot save {path}: {error}; give an array") from None
        return {"range": [self.write_int(end, path) for end in (x.start, x.stop, x.step)]}

    def write_dict(self, x: Any, path: str) -> Any:
        for key in x:
            if not is_key(key):
                raise ValueError(f"cannot save {path}: its key {key!r} is not made of strings and numbers")
        pairs = [[self.node(key, path), self.node(item, f"{path}[{key!r}]")] for key, item in x.items()]
        return {"dict": pairs}

    def write_scalar(self, x: Any, path: str) -> Any:
        if x.dtype.kind not in ARRAY_KINDS:
            self.refuse(x, path)
        return {"scalar": [x.dtype.str, x.tobytes()[: x.dtype.itemsize].hex()]}

    def write_array(self, x: np.ndarray, path: str) -> Any:
        if x.dtype.kind == "O":
            return self.write_objects(x, path)
        if x.dtype.kind not in ARRAY_KINDS or x.dtype.itemsize == 0:
            raise ValueError(
                f"cannot save {path}: it is an array of {x.dtype}; only numbers, times and text are saved"
            )
        # Only the dtype's letters are kept: metadata hung on it has no place in an npy header.
        self.arrays.append(np.asarray(x).view(np.dtype(x.dtype.str)))
        return {"array": len(self.arrays) - 1}

    def write_foreign(self, x: Any, path: str) -> Any:
        return self.write_array(to_numpy(x), path)

    def write_masked(self, x: np.ma.MaskedArray, path: str) -> Any:
        parts = (np.ma.getdata(x), np.ma.getmaskarray(x))
        return {"masked": [self.write_array(part, path) for part in parts]}

    def write_dtype(self, x: np.dtype, path: str) -> Any:
        if x.kind not in _DTYPE_KINDS:
            self.refuse(x, path)
        return {"dtype": x.str}

    def write_numbers(self, x: type[np.generic], path: str) -> Any:
        dtype = np.dtype(x)
        if dtype.kind not in _DTYPE_KINDS or dtype.type is not x:
            self.refuse(x, path)
        return {"numbers": dtype.str}

    def write_objects(self, x: np.ndarray, path: str) -> Any:
        for index, item in np.ndenumerate(x):
            if type(item) not in PLAIN:
                place = ", ".join(map(str, index))
                raise ValueError(
                    f"cannot save {path}[{place}]: it is a {_kind(item)}; "
                    "object arrays of text and numbers are saved"
                )
        return {"objects": [list(x.shape), self.write_list(x.ravel().tolist(), path)]}

    def write_class(self, x: type, path: str) -> Any:
        return {"class": name_of(x)}

    def write_value(self, x: Any, path: str) -> Any:
        with self._ranges.given():
            return {"value": {"class": name_of(type(x)), "parameters": self.write_named(parameters(x), path)}}

    def write_estimator(self, x: Any, path: str) -> Any:
        x = x if getattr(x, "_library_", None) is None else x.numpy()  # what was on a device loads anywhere
        given = x.get_params(deep=False)
        row = row_of(type(x))
        left = () if row is None else (*row.left_out, *(name for name, _ in row.rebuilt))
        learned = {name: item for name, item in vars(x).items() if name not in given and name not in left}
        for name in learned:
            if not is_fitted_name(name, type(x)):
                raise ValueError(
                    f"cannot save {path}.{name}: it is no parameter, and learned names end in '_'"
                )
        with self._ranges.given():
            parts = {
                "class": name_of(type(x)),
                "parameters": self.write_named(given, path),
                "attributes": self.write_named(learned, path),
            }
        return {"estimator": parts}

    def write_splitter(self, x: Any, path: str) -> Any:
        with self._ranges.given():
            parts = {"class": name_of(type(x)), "parameters": self.write_named(arguments(x), path)}
        return {"splitter": parts}

    def write_named(self, items: dict[str, Any], path: str) -> dict[str, Any]:
        return {name: self.node(item, f"{path}.{name}") for name, item in items.items()}

    def refuse(self, x: Any, path: str) -> Any:
        if isinstance(x, (np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
            reason = "a random generator cannot be restored with its spawned children; use an integer seed"
        elif callable(x):
            reason = "a function or class is code, and files hold data"
        else:
            reason = "values, estimators, NumPy arrays, numbers, text and containers of these are saved"
        raise ValueError(f"cannot save {path}: it is a {_kind(x)}; {reason}")


def _kind(x: Any) -> str:
    cls = type(x)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


_WRITERS: dict[type, Callable[[_Encoder, Any, str], Any]] = {
    type(None): _Encoder.write_itself,
    bool: _Encoder.write_itself,
    str: _Encoder.write_itself,
    int: _Encoder.write_int,
    float: _Encoder.write_float,
    complex: _Encoder.write_complex,
    Fraction: _Encoder.write_fraction,
    list: _Encoder.write_list,
    tuple: _Encoder.write_tuple,
    dict: _Encoder.write_dict,
    slice: _Encoder.write_slice,
    range: _Encoder.write_range,
    np.ndarray: _Encoder.write_array,
    np.memmap: _Encoder.write_array,
    np.ma.MaskedArray: _Encoder.write_masked,
}


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[_Encoder, Any, str], Any]], ...] = (
    (lambda x: isinstance(x, np.generic), _Encoder.write_scalar),
    (lambda x: not isinstance(x, type) and is_foreign_array(x), _Encoder.write_foreign),
    (lambda x: isinstance(x, np.dtype), _Encoder.write_dtype),
    # The name of a kind of numbers is data, and so is that of a family of distributions.
    (lambda x: isinstance(x, type) and issubclass(x, np.generic), _Encoder.write_numbers),
    (lambda x: isinstance(x, type) and is_value(x), _Encoder.write_class),
    (lambda x: is_value(type(x)), _Encoder.write_value),
    (lambda x: is_splitter(type(x)), _Encoder.write_splitter),
    (lambda x: is_estimator(type(x)), _Encoder.write_estimator),
)


def decode(tree: Any, archive: Archive, registry: Registry) -> Any:
    """Return the object of a tree."""
    registry.check_known(_class_names(tree))
    found = _Decoder(archive, registry).item(tree)
    archive.finish()
    return found


def _class_names(tree: Any) -> Iterator[Any]:
    """Yield the names of classes in a tree, in their order."""
    below = [tree]
    while below:
        node = below.pop()
        if isinstance(node, dict):
            if "class" in node:
                yield node["class"]
            below.extend(reversed(node.values()))
        elif isinstance(node, list):
            below.extend(reversed(node))


class _Decoder:
    def __init__(self, archive: Archive, registry: Registry) -> None:
        self._archive = archive
        self._registry = registry
        self._ranges = RangeBudget()

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

    def read_fraction(self, content: Any) -> Fraction:
        numerator, denominator = _expect(self._items(content, 2), int)
        if denominator < 1:
            raise ValueError(f"a fraction has the denominator {denominator}")
        return Fraction(numerator, denominator)

    def read_tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self._items(content))

    def read_slice(self, content: Any) -> slice:
        return slice(*self._items(content, 3))

    def read_range(self, content: Any) -> range:
        found = range(*_expect(self._items(content, 3), int))
        self._ranges.spend(found)
        return found

    def read_dict(self, content: Any) -> dict[Any, Any]:
        pairs = [self._items(pair, 2) for pair in _expect([content], list)[0]]
        for key, _ in pairs:
            if not is_key(key):
                raise ValueError(f"a dictionary has the key {key!r}")
        return dict(pairs)

    def read_array(self, content: Any) -> np.ndarray:
        return self._archive.take(content)

    def read_masked(self, content: Any) -> np.ma.MaskedArray:
        entries, mask = _expect(self._items(content, 2), np.ndarray)
        if mask.dtype != bool or mask.shape != entries.shape:
            raise ValueError("a mask is not of its array")
        return np.ma.MaskedArray(entries, mask)

    def read_dtype(self, content: Any) -> np.dtype:
        dtype = np.dtype(_expect([content], str)[0][:32])
        plain = dtype.kind in _DTYPE_KINDS and dtype.hasobject == (dtype.kind == "O")
        if not plain or dtype.itemsize > _MAX_ITEM:
            raise ValueError(f"{content!r} is not the dtype of an array")
        return dtype

    def read_numbers(self, content: Any) -> type[np.generic]:
        return self.read_dtype(content).type

    def read_splitter(self, content: Any) -> Any:
        name, given = _parts(content, "class", "parameters")
        with self._ranges.given():
            return _built(self._registry.splitter(name), self._named(given))

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
        with self._ranges.given():
            if name in earlier.VALUES:
                record = earlier.VALUES[name](self._named(given))
            else:
                record = _built(self._registry.value(name), self._named(given))
        if is_value(type(record)):
            check_value(record)
        return record

    def read_estimator(self, content: Any) -> Any:
        name, given, learned = _parts(content, "class", "parameters", "attributes")
        cls = self._registry.estimator(name)
        for attribute in learned:
            if not is_fitted_name(attribute, cls) or attribute in given:
                raise ValueError(f"{name} has no learned attribute {attribute!r}")
        for attribute in learned:
            if attribute.startswith("_") and attribute not in SKLEARN_STATE and hasattr(cls, attribute):
                raise ValueError(f"{name} has no learned attribute {attribute!r}: it is the class's own")
        with self._ranges.given():
            estimator = _built(cls, self._named(given))
            attributes = self._named(learned)
        if learned and name in earlier.ATTRIBUTES:
            earlier.ATTRIBUTES[name](attributes)
        vars(estimator).update(attributes)
        row = row_of(cls)
        if learned and row is not None:
            vars(estimator).update({name: rebuild(estimator) for name, rebuild in row.rebuilt})
        check_guarantees(estimator, self._archive.size)
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
    except MemoryError:
        raise
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
    name.removeprefix("read_"): read for name, read in vars(_Decoder).items() if name.startswith("read_")
}
