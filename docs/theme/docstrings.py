"""Docstrings as pages show them: examples in boxes, and the arguments of parts of an experiment."""

import ast

import griffe

_FIELDS = ("number", "count", "choice", "flag", "field")


def boxed(text: str) -> str:
    """Doctests in code fences, since `>>>` is a quotation to Markdown."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


def argument(name: str, value: str | None) -> str:
    """A field as an argument: its name, and its default if it has one."""
    if value is None:
        return name
    call = ast.parse(value, mode="eval").body
    known = isinstance(call, ast.Call) and getattr(call.func, "id", None) in _FIELDS
    if not known:
        return f"{name}={value}" if not isinstance(call, ast.Call) else f"{name}=..."
    default = {word.arg: word.value for word in call.keywords}.get("default")
    if default is None and call.args and call.func.id != "choice":
        default = call.args[0]
    return name if default is None else f"{name}={ast.unparse(default)}"


class Shown(griffe.Extension):
    """What mkdocstrings loads this file for."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring is not None:
            obj.docstring.value = boxed(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_) -> None:
        fields = [
            member
            for member in cls.members.values()
            if isinstance(member, griffe.Attribute)
            and member.annotation is not None
            and "property" not in member.labels
            and "ClassVar" not in str(member.annotation)
            and "AbstractVar" not in str(member.annotation)
        ]
        own = "__init__" in cls.members or cls.name.startswith("Abstract")
        if cls.docstring is None or not fields or own:
            return
        told = ", ".join(
            argument(field.name, None if field.value is None else str(field.value))
            for field in fields
        )
        cls.docstring.value = f"```python\n{cls.name}({told})\n```\n\n{cls.docstring.value}"
