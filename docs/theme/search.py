"""The search finds how-to before results: pages of the ledger, hundreds of sections, rank last.

MkDocs calls `on_page_markdown` with every page; those pages are generated, so that the word to the
search is not in them.
"""


def on_page_markdown(text: str, page, **_) -> str:
    """The page as it is, ranked last if it is one of the ledger."""
    if page.file.src_uri == "ledger.md" or page.file.src_uri.startswith("papers/"):
        page.meta.setdefault("search", {"boost": 0.1})
    return text
