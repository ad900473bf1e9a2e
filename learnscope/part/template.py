"""Pages and tables from Jinja templates."""

from typing import Any

from jinja2 import Environment, PackageLoader


def filled(package: str | None, name: str, **values: Any) -> str:
    """A template that stands beside the modules of a package, filled in. All text is escaped."""
    made = Environment(loader=PackageLoader(package or "", "."), autoescape=True, trim_blocks=True,
                       lstrip_blocks=True)  # fmt: skip
    return made.get_template(name).render(values)
