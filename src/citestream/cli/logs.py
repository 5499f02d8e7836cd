"""Event logs on the command line: opened, read with damage told on stderr, printed as answers.

In: the name of a file. Out: events, and answers on stdout. Deliberately elsewhere: what is an event
and what is damage (``citestream.logs``), what an answer looks like (``answers``).
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from ..errors import brief
from ..events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    SessionEvent,
    UserMessageData,
)
from ..logs import LogDamage, LogItem, LogReader
from ..wire import encode_event, encode_json
from .answers import AnswerFormat, print_answer
from .output import complain, write

__all__ = ("opened", "print_events", "read_log")

_PIECE = 64 * 1024


@contextmanager
def opened(file: str, /) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file, or standard input for ``-``; yields it and its size where that is known."""
    if file == "-":
        with nullcontext(sys.stdin.buffer) as stream:
            yield stream, None
    else:
        with Path(file).open("rb") as stream:
            yield stream, Path(file).stat().st_size


def read_log(
    file: str, stream: BinaryIO, /, *, progress: Callable[[int], None] | None = None
) -> Iterator[SessionEvent]:
    """Yield the events of the log ``stream``, and name on stderr what is damaged in ``file``.

    ``progress`` is told how many bytes were read each time.
    """
    reader = LogReader()
    # By lines where they are short, so that a stream that goes on is shown as it comes.
    while piece := stream.readline(_PIECE):
        yield from _events(file, reader.feed(piece))
        if progress is not None:
            progress(len(piece))
    yield from _events(file, reader.finish())


def print_events(
    name: str, events: Iterable[SessionEvent], /, *, style: AnswerFormat, questions: bool = False
) -> None:
    """Print the answers among ``events`` of the log or session ``name``, or all events for JSON.

    An answer that was cut off is shown as far as it goes and named on stderr. With ``questions``,
    what the user said is shown before what was said to it.
    """
    if style is AnswerFormat.JSON:
        for event in events:
            write(encode_json(encode_event(event)) + "\n")
        return
    printer = _Printer(style)
    open_text: dict[tuple[str | None, str], list[str]] = {}
    for event in events:
        data = event.data
        if isinstance(data, AssistantMessageDeltaData):
            open_text.setdefault((event.agent_id, data.message_id), []).append(data.delta_content)
        elif isinstance(data, AssistantMessageData):
            open_text.pop((event.agent_id, data.message_id), None)
            printer.answer(data)
        elif questions and isinstance(data, UserMessageData):
            printer.ask(data.content)
    for (_, message_id), pieces in open_text.items():
        cut = AssistantMessageData(message_id=message_id, content="".join(pieces))
        if printer.answer(cut):
            complain(f"{name}: message {brief(message_id)} is cut off: its final event is missing")
    printer.finish()


class _Printer:
    def __init__(self, style: AnswerFormat, /) -> None:
        self._style = style
        self._printed = 0
        self._question: str | None = None

    def ask(self, question: str) -> None:
        """Show a question with its answer, or now, where the one before had none."""
        self.finish()
        self._question = question

    def answer(self, message: AssistantMessageData) -> bool:
        """Print an answer, unless it is empty; tell whether it was."""
        if not message.content.strip():
            return False
        self._print(message)
        return True

    def finish(self) -> None:
        """Print a question that had no answer."""
        if self._question is not None:
            self._print(AssistantMessageData(message_id="", content=""))

    def _print(self, message: AssistantMessageData) -> None:
        self._printed += 1
        question, self._question = self._question, None
        print_answer(
            message.content,
            message.citations,
            style=self._style,
            number=self._printed,
            question=question,
        )


def _events(file: str, items: Iterable[LogItem]) -> Iterator[SessionEvent]:
    for item in items:
        if isinstance(item, LogDamage):
            _complain(file, item)
        else:
            yield item


def _complain(file: str, damage: LogDamage) -> None:
    place = f"{file}:{damage.line}"
    if damage.lost and damage.kind != "repaired":
        unit = "byte" if damage.lost == 1 else "bytes"
        lost = f"{damage.lost} {unit} from byte {damage.offset}"
        complain(f"{place}: skipped: {damage.problem} ({lost})")
    else:
        complain(f"{place}: {damage.problem}")
