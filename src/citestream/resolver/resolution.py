"""What reading a whole answer gives: one frozen value, which notebooks display with its sources.

Deliberately elsewhere: reading (``answer``), what an answer looks like (``render``).
"""

import attrs

from ..issues import Issue
from ..model import Citations
from ..render import answer

__all__ = ("Resolution",)


@attrs.frozen(kw_only=True)
class Resolution:
    """An answer read whole.

    ``content`` is what a reader sees; the spans of ``citations`` (None when nothing was cited) and
    the indexes of ``issues`` count its UTF-16 code units.
    """

    content: str
    citations: Citations | None = None
    issues: tuple[Issue, ...] = ()

    def _repr_html_(self) -> str:
        return answer(self)._repr_html_()

    def _repr_markdown_(self) -> str:
        return answer(self)._repr_markdown_()
