"""Questions to a model: how they are written, and what a joint distribution or a prediction answers."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.data.columns import check_known
from tractable.data.names import nearest
from tractable.value import replace, value

#: Draws by which it is found how rare the given values are.
N_DRAWS = 4_000

#: The sign between a name and a value.
OPERATOR = re.compile(r"(<=|>=|==|=|<|>)")

#: The operator that is read from the other side.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@value
class Term:
    """One part of a question: a column, with an operator and a value if it is an event."""

    name: str
    operator: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.text}"


@value
class Question:
    """Columns and events that are asked for, and those that are given."""

    columns: tuple[str, ...]
    events: tuple[Term, ...]
    given: tuple[Term, ...]


def parse_question(text: str) -> Question:
    """Return the parts of a question.

    Examples
    --------
    >>> found = parse_question('price, cut=Ideal | 0.5<carat<=1, "table, %"=57')
    >>> found.columns, [str(term) for term in found.events], [str(term) for term in found.given]
    (('price',), ['cut=Ideal'], ['carat>0.5', 'carat<=1', 'table, %=57'])
    """
    left, *right = _split(text, "|")
    if len(right) > 1:
        raise ValueError(f"QUESTION has several bars: {text!r}; put a name with a bar in quotes")
    asked = [term for part in _split(left, ",") for term in _terms(part)]
    if not asked:
        raise ValueError('QUESTION names no column: "price | carat=1" asks for price at a carat of 1')
    given = [term for part in _split(right[0], ",") for term in _terms(part)] if right else []
    for term in given:
        if not term.operator:
            raise ValueError(f"QUESTION: {term.name!r} has no value; right of the bar is {term.name}=…")
    columns = [term.name for term in asked if not term.operator]
    doubled = [name for name in columns if columns.count(name) > 1]
    if doubled:
        raise ValueError(f"QUESTION asks for {doubled[0]!r} twice")
    values = [term.name for term in given if term.operator == "="]
    for name in dict.fromkeys([*columns, *values]):
        if name in values and (name in columns or [term.name for term in given].count(name) > 1):
            raise ValueError(f"QUESTION: {name!r} has a value, and is asked for or given again")
    return Question(
        columns=tuple(columns), events=tuple(term for term in asked if term.operator), given=tuple(given)
    )


def _split(text: str, mark: str) -> list[str]:
    """Return the parts of a text between marks that are not in quotes."""
    parts, quote = [""], ""
    for sign in text:
        if sign == mark and not quote:
            parts.append("")
            continue
        if sign in "\"'" and (not quote or sign == quote):
            quote = "" if quote else sign
        parts[-1] += sign
    if quote == '"':
        raise ValueError(f"QUESTION has a quote that does not end: {text!r}")
    return parts


def _terms(part: str) -> list[Term]:
    """Return the terms of one part: none if it is blank, two of a range with two ends."""
    if not part.strip():
        return []
    hidden = re.sub(r"\"[^\"]*\"|'[^']*'", lambda found: "\0" * len(found[0]), part)
    cuts = [(found.start(), found.end(), found[0]) for found in OPERATOR.finditer(hidden)]
    ends = [0, *(end for _, end, _ in cuts)]
    words = [
        _unquoted(part[a:b]) for a, b in zip(ends, [*(start for start, _, _ in cuts), len(part)], strict=True)
    ]
    signs = [sign.replace("==", "=") for _, _, sign in cuts]
    if not all(words):
        raise ValueError(f"QUESTION: {part.strip()!r} lacks a name or a value")
    if not signs:
        return [Term(name=words[0])]
    if len(signs) == 1:
        turned = _is_number(words[0]) and not _is_number(words[1]) and signs[0] in TURNED
        name, sign, text = (
            (words[1], TURNED[signs[0]], words[0]) if turned else (words[0], signs[0], words[1])
        )
        return [Term(name=name, operator=sign, text=text)]
    if len(signs) == 2 and all(sign in TURNED for sign in signs):
        low, name, high = words
        return [
            Term(name=name, operator=TURNED[signs[0]], text=low),
            Term(name=name, operator=signs[1], text=high),
        ]
    raise ValueError(f"QUESTION: {part.strip()!r} is no column=value and no range such as 1<column<2")


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


# Answers


@value
class NumberAnswer:
    """The distribution of one number."""

    distribution: Any  # None where a model gives a prediction alone
    mean: float

    def summary(self, levels: Sequence[float], coverage: float) -> dict[str, Any]:
        """Return mean, standard deviation, median, interval and quantiles; what there is of them."""
        found: dict[str, Any] = {"kind": "number", "mean": self.mean}
        if self.distribution is None:
            return found
        d = self.distribution
        if hasattr(d, "stddev"):
            found["stddev"] = float(np.ravel(d.stddev)[0])
        low, high = (float(np.ravel(end)[0]) for end in d.interval(coverage))
        at = {f"{level:g}": float(np.ravel(d.icdf(level))[0]) for level in levels}
        median = float(np.ravel(d.icdf(0.5))[0])
        return found | {"median": median, "interval": [low, high], "coverage": coverage, "quantiles": at}


@value
class CategoryAnswer:
    """The probabilities of the categories of one column."""

    categories: tuple[Any, ...]
    probabilities: np.ndarray

    def summary(self, levels: Sequence[float], coverage: float) -> dict[str, Any]:
        """Return the most probable category, and the probability of each."""
        order = np.argsort(-self.probabilities, kind="stable")
        named = {str(self.categories[i]): float(self.probabilities[i]) for i in order}
        return {"kind": "category", "most_probable": next(iter(named)), "probabilities": named}


@value
class Answers:
    """What a model answers: a distribution a column, the probability of the events, and notes."""

    columns: dict[str, Any]
    probability: float | None = None
    rarer: float | None = None  # the probability of values that are no more probable than those given
    notes: tuple[str, ...] = ()


@value
class JointAnswerer:
    """A model of all columns: each may be asked for, and given."""

    model: Any
    label: str
    logged: tuple[str, ...] = ()  # the columns whose logarithms it models

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [str(name) for name in self.model.feature_names_in_]

    def categories(self, name: str) -> tuple[Any, ...] | None:
        """Return the categories of a column; None if it is a number."""
        if getattr(self.model, "kinds_", {}).get(name) == "bernoulli":
            return (False, True)
        found = getattr(self.model, "categories_", {})
        return tuple(found[name]) if name in found else None

    def answers(self, question: Question) -> Answers:
        """Return the answers to a question."""
        terms = (*question.events, *question.given)
        check_known([*question.columns, *(term.name for term in terms)], self.names, "QUESTION", self.label)
        for term in terms:
            _check_operator(term, self.categories(term.name))
        values = {
            t.name: self._modelled(t.name, _given_value(t, self.categories(t.name)))
            for t in question.given
            if t.operator == "="
        }
        if hasattr(self.model, "conditional_probabilities"):
            return self._by_rows(question, values)
        ranges = [term for term in question.given if term.operator != "="]
        rest = [name for name in self.names if name not in values]
        joint = self.model.condition(values) if values else self.model.marginal(self.names)
        joint, _ = self._within(joint, rest, ranges, question.columns, "a range that is given")
        probability = None
        if question.events:
            _, probability = self._within(joint, rest, question.events, (), "an event")
        columns = {name: self._answer(joint.marginal([name]), name) for name in question.columns}
        rarer = self._share_of_rarer(values) if values else None
        found = Answers(columns=columns, probability=probability, rarer=rarer)
        if question.given and _is_same(found, self.answers(replace(question, given=()))):
            return replace(found, notes=(self._why_same(),))
        return found

    def _why_same(self) -> str:
        """Return why what is given changes nothing, and what to do."""
        said = f"what is given changes nothing: in {self.label}"
        if getattr(self.model, "n_components", None) != 1:
            return f"{said} these columns are independent"
        return (
            f"{said} of one component these columns are independent; fit it with more components "
            "(--set n_components=5), or ask the table itself"
        )

    def _modelled(self, name: str, x: Any) -> Any:
        """Return what the model has for the value of a column: of some columns the logarithm."""
        if name not in self.logged:
            return x
        if x <= 0.0:
            raise ValueError(f"QUESTION: {name!r} is positive in the table; got {x:g}")
        return float(np.log(x))

    def _answer(self, one: Any, name: str) -> Any:
        from tractable.distributions import LogNormal, Mixture

        d, categories = one.as_univariate(), self.categories(name)
        if name in self.logged:  # exp of a normal
            normal = d.components
            parts = LogNormal(log_mean=normal.mean, log_variance=normal.variance)
            d = Mixture(weights=d.weights, components=parts)
        if categories is not None:
            p = np.asarray(d.prob(np.arange(len(categories), dtype=np.float64)))
            return CategoryAnswer(categories=categories, probabilities=p / p.sum())
        return NumberAnswer(distribution=d, mean=float(d.mean))

    def _within(
        self, joint: Any, rest: Sequence[str], terms: Sequence[Term], wanted: Sequence[str], what: str
    ) -> tuple[Any, float]:
        """Return a distribution given that some columns lie in ranges, and the probability that they do.

        It is exact where the others are independent of them within each component: p(x | A) = Σ_k π_k P_k(A)
        p_k(x) / Σ_k π_k P_k(A).
        """
        from tractable.distributions import Mixture

        if not terms:
            return joint, 1.0
        names = list(dict.fromkeys(term.name for term in terms))
        mixture = isinstance(joint, Mixture)
        together = _correlated(joint.components if mixture else joint, rest)
        for name in names:
            group = next((g for g in together if name in g), (name,))
            also = [other for other in (*names, *wanted) if other in group and other != name]
            if also:
                raise ValueError(
                    f"QUESTION: {what} of {name!r} has no exact answer, because within a component of "
                    f"{self.label} it is correlated with {also[0]!r}; give {name}=… a value"
                )
            if name in wanted:
                raise ValueError(f"QUESTION: {name!r} is asked for and given a range")
        parts = joint.components if mixture else joint
        p = np.ones(np.shape(joint.weights) if mixture else ())
        for name in names:
            mine = [
                replace(term, text=repr(self._modelled(name, _number(term)))) if name in self.logged else term
                for term in terms
                if term.name == name
            ]
            p = p * _probability(parts.marginal([name]).as_univariate(), mine, self.categories(name))
        total = float(np.sum(joint.weights * p)) if mixture else float(p)
        if total <= 0.0:
            raise ValueError(f"QUESTION: {', '.join(map(str, terms))} has the probability zero")
        if not mixture:
            return joint, total
        return Mixture(weights=joint.weights * p / total, components=joint.components), total

    def _share_of_rarer(self, values: dict[str, Any]) -> float | None:
        """Return the probability of values that are no more probable than the given ones.

        Categories are judged by their probability, and numbers by their density given the categories, since
        the two have no common unit; the smaller share counts.
        """
        categories = {name: v for name, v in values.items() if self.categories(name) is not None}
        numbers = {name: v for name, v in values.items() if name not in categories}
        shares: list[float | None] = []
        if categories:
            codes = [_code(v, self.categories(name)) for name, v in categories.items()]
            shares.append(_share_of_no_more_probable(self.model.marginal(list(categories)), codes))
        if numbers:
            joint = self.model.condition(categories) if categories else self.model
            shares.append(_share_of_no_more_probable(joint.marginal(list(numbers)), list(numbers.values())))
        known = [share for share in shares if share is not None]
        return min(known) if len(known) == len(shares) else None

    def _by_rows(self, question: Question, values: dict[str, Any]) -> Answers:
        """Return the answers of a model that gives the probabilities of a column, given a row."""
        from pandas import DataFrame

        if question.events or any(term.operator != "=" for term in question.given):
            raise ValueError(f"QUESTION: {self.label} answers for columns given values, not for events")
        row = DataFrame({name: [values.get(name)] for name in self.names}, dtype=object)
        found = {}
        for name in question.columns:
            p = np.asarray(self.model.conditional_probabilities(row, name))[0]
            levels = tuple(self.model.categories_[name])
            found[name] = CategoryAnswer(categories=levels, probabilities=p)
        return Answers(columns=found)


@value
class PredictionAnswerer:
    """A model that predicts a column: that one may be asked for, and the others given."""

    model: Any
    label: str

    def answers(self, question: Question) -> Answers:
        """Return the answer to a question."""
        from pandas import DataFrame

        names = [str(name) for name in self.model.feature_names_in_]
        target = getattr(self.model, "target", None)
        if question.events or any(term.operator != "=" for term in question.given):
            raise ValueError(
                f"QUESTION: {self.label} predicts a column from values, and answers for no range"
            )
        if len(question.columns) != 1:
            raise ValueError(f"QUESTION: {self.label} predicts one column; ask for that one")
        [asked] = question.columns
        if asked in names:
            raise ValueError(f"QUESTION: {self.label} predicts from {asked!r}, and is not a model of it")
        if target is not None:
            check_known([asked], [target], "QUESTION", self.label)
        check_known([term.name for term in question.given], names, "QUESTION", self.label)
        row = {term.name: _number_or_text(term.text) for term in question.given}
        lacking = [name for name in names if name not in row]
        if lacking and not self._takes_missing:
            raise ValueError(f"QUESTION: {self.label} needs {', '.join(f'{n}=…' for n in lacking)} too")
        notes = (f"not given, and taken as missing: {', '.join(lacking)}",) if lacking else ()
        X = DataFrame({name: [row.get(name)] for name in names})
        numbers = [name for name in names if X[name].isna().all() or not isinstance(row.get(name), str)]
        X = X.astype(dict.fromkeys(numbers, float)) if target is None else X
        return Answers(columns={asked: self._answer(X)}, notes=notes)

    @property
    def _takes_missing(self) -> bool:
        from tractable.cli.predict import Predictor

        return Predictor(model=self.model, method="predict").takes_missing

    def _answer(self, X: Any) -> Any:
        if hasattr(self.model, "predict_proba"):
            p = np.asarray(self.model.predict_proba(X))[0]
            return CategoryAnswer(categories=tuple(self.model.classes_), probabilities=p)
        mean = float(np.ravel(self.model.predict(X))[0])
        if not hasattr(self.model, "predict_dist"):
            return NumberAnswer(distribution=None, mean=mean)
        return NumberAnswer(distribution=self.model.predict_dist(X), mean=mean)


def _share_of_no_more_probable(d: Any, x: Sequence[float]) -> float | None:
    """Return P(p(X) ≤ p(x)) by draws: equal probabilities count, as those of equally frequent categories."""
    if not hasattr(d, "sample"):
        return None
    here = float(np.ravel(d.log_prob(np.array([x], dtype=np.float64)))[0])
    return float(np.mean(np.asarray(d.log_prob(d.sample(N_DRAWS, rng=0))) <= here + 1e-9))


def _is_same(one: Answers, other: Answers) -> bool:
    """Return whether two answers are equal, but for rounding: probabilities, means, standard deviations."""

    def figures(found: Answers) -> list[float]:
        of_columns = [
            x.probabilities
            if isinstance(x, CategoryAnswer)
            else (x.mean, getattr(x.distribution, "stddev", 0.0))
            for x in found.columns.values()
        ]
        return [float(x) for x in (*np.ravel(found.probability or 0.0), *(y for x in of_columns for y in x))]

    return np.allclose(figures(one), figures(other), rtol=1e-12, atol=0.0)


def _correlated(parts: Any, rest: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the groups of columns that are not independent within a component."""
    if hasattr(parts, "placed"):
        return [tuple(rest[j] for j in where) for part, where in parts.placed() if len(where) > 1]
    return [tuple(rest)]


def _probability(d: Any, terms: Sequence[Term], categories: tuple[Any, ...] | None) -> Any:
    """Return the probability that one column meets all terms, for each component."""
    if categories is not None:
        [term] = terms if len(terms) == 1 else [None]
        if term is None:
            raise ValueError(f"QUESTION: {terms[0].name!r} is given several times")
        return np.asarray(d.prob(float(_code(_given_value(term, categories), categories))))
    low, high = -np.inf, np.inf
    discrete = bool(getattr(d, "discrete", False))
    for term in terms:
        end = _number(term)
        if term.operator == "=":
            if not discrete:
                raise ValueError(f"QUESTION: {term} has the probability zero; ask for a range of {term.name}")
            low, high = max(low, end - 0.5), min(high, end)
        elif term.operator[0] == ">":
            below = np.ceil(end) - 1.0 if discrete and term.operator == ">=" else end
            low = max(low, below)
        else:
            high = min(high, np.ceil(end) - 1.0 if discrete and term.operator == "<" else end)
    if low >= high:
        return np.zeros(d.batch_shape)
    if np.isinf(low):
        return np.asarray(d.cdf(high))
    return np.asarray(d.survival(low) if np.isinf(high) else d.cdf(high) - d.cdf(low))


def _check_operator(term: Term, categories: tuple[Any, ...] | None) -> None:
    if categories is None:
        _number(term)
    elif term.operator != "=":
        raise ValueError(f"QUESTION: {term.name!r} is a category, which has no order; say {term.name}=…")
    else:
        _given_value(term, categories)


def _given_value(term: Term, categories: tuple[Any, ...] | None) -> Any:
    """Return the value of a column=value; the error lists the categories."""
    if categories is None:
        return _number(term)
    texts = {str(category): category for category in categories}
    if term.text in texts:
        return texts[term.text]
    if _is_number(term.text):  # 6 and 6.0 are one category
        same = [c for c in categories if _is_number(str(c)) and float(str(c)) == float(term.text)]
        if same:
            return same[0]
    folded = [category for text, category in texts.items() if text.casefold() == term.text.casefold()]
    if len(folded) == 1:
        return folded[0]
    near = nearest(term.text, texts)
    hint = f"did you mean {near!r}? " if near else ""
    some = ", ".join(list(texts)[:20]) + (", …" if len(texts) > 20 else "")
    raise ValueError(f"QUESTION: {term.name!r} has no category {term.text!r}; {hint}it has {some}")


def _number(term: Term) -> float:
    if not _is_number(term.text):
        raise ValueError(f"QUESTION: {term.name!r} is a number; got {term.text!r}")
    return float(term.text)


def _number_or_text(text: str) -> Any:
    return float(text) if _is_number(text) else text


def _code(given: Any, categories: tuple[Any, ...] | None) -> float:
    return float(given) if categories is None else float(categories.index(given))
