"""What the words of a figure name, against what was run: data sets, steps, dimensions, sizes."""

import functools
import json
import re
import tomllib

_SETS = {"mnist": r"(?<!rainbow)(?<!rainbow-)mnist", "cifar10": r"cifar-?10(?!0)",
         "cifar-fs": "cifar-?fs", "svhn": "svhn", "omniglot": "omniglot",
         "mini-imagenet": "mini-?imagenet"}  # fmt: skip
_NUMBER = r"(10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d[\d,.e+]*\d|\d)"
_FIELDS = {  # what a title writes, and the fields that it may mean
    rf"{_NUMBER} steps": ["steps", "rule.inner_steps"],
    rf"\bT = {_NUMBER}": ["steps"],
    rf"\bd = {_NUMBER}": ["data.dim"],
    rf"(?<![/\w])n = {_NUMBER}(?! \+)": ["data.train", "data.train_per_class"],
    rf"\bK = {_NUMBER}": ["data.tasks"],
    rf"{_NUMBER} % flips": ["data.flip"],
}
_SMALL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def words(drawing) -> list[str]:
    """Titles and labels: everything but ticks."""
    found = [drawing.get_suptitle()]
    for axes in drawing.axes:
        found += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        found += [text.get_text() for text in axes.texts]
        found += axes.get_legend_handles_labels()[1]
    found += [t.get_text() for legend in drawing.legends for t in legend.get_texts()]
    return [" ".join(each.replace("\u00a0", " ").split()) for each in found if each]


def unfounded(texts: list[str], datasets) -> list[str]:
    """Names and numbers of some texts that are not those of the runs."""
    known = " ".join(str(value) for data in datasets for value in data.attrs.values()).lower()
    wrong = []
    for text in texts:
        wrong += [f"{name} in {text!r}" for name, pattern in _SETS.items()
                  if re.search(pattern, text.lower()) and name not in known]  # fmt: skip
        for pattern, paths in _FIELDS.items():
            named = re.findall(pattern, text)
            values = ((data, path) for data in datasets for path in paths if named)
            allowed = {value for data, path in values for value in run(data, path)}
            for found in named:
                value = number(found) * (0.01 if "flips" in pattern else 1)
                if allowed and not any(abs(value - a) <= 1e-3 * abs(a) for a in allowed):
                    wrong.append(f"{found} in {text!r} is none of {sorted(allowed)}")
    return wrong


def run(data, path: str) -> set[float]:
    """The values of a field in all runs of a sweep."""
    texts, over = data.attrs.get("experiment", "{}"), json.loads(data.attrs.get("over", "{}"))
    arms = json.loads(texts) if texts.startswith("{") else {"": texts}
    axes = [json.loads(axis) if isinstance(axis, str) else over for axis in over.values()]
    values = [value for axis in axes for value in axis.get(path, [])]
    for table in map(_parsed, arms.values()):
        for name in path.split("."):
            table = table.get(name, {}) if isinstance(table, dict) else {}
        values.append(table)
    *_, name = path.split(".")
    values += data.coords[name].values.ravel().tolist() if name in data.coords else []
    return {float(value) for value in values if isinstance(value, int | float)}


_parsed = functools.cache(tomllib.loads)


def number(text: str) -> float:
    """A number as titles write it.

    >>> number("10⁷"), number("2,000"), number("0.5")
    (10000000.0, 2000.0, 0.5)
    """
    if text[2:3] and text[2:3] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹":
        return 10.0 ** int(text[2:].translate(_SMALL))
    return float(text.replace(",", ""))
