"""What the user sees: what is final is printed once, what is not yet is drawn live below it.

While an answer streams its last rows are live, as many as the screen holds. With its final event
they give way to the whole of it, with the numbers of what it cites and the words there. A pipe gets
only what is final. Models, tools and sources are strangers: all they say goes through ``render``.
"""

import re
import sys
from contextlib import suppress

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import ControlType, Segment
from rich.text import Text

from citestream import SessionEvent, render, wire
from citestream.events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    SessionErrorData,
    ToolExecutionCompleteData,
    ToolExecutionStartData,
)

with suppress(ImportError):  # not on Windows
    import readline  # noqa: F401 - gives ``input`` its history and its arrow keys

__all__ = ("Screen", "one_line")

KEPT = 16_384  # characters of what streams: more than a screen holds
REFRESHED = 12  # times a second
LONGEST = 200  # characters of a note
# What is live is drawn over by counting rows, but how wide emoji are terminals disagree. While they
# do not wrap, a row is a row.
WRAP_OFF = Segment("\x1b[?7l", control=[(ControlType.CARRIAGE_RETURN,)])
WRAP_ON = Segment("\x1b[?7h", control=[(ControlType.CARRIAGE_RETURN,)])
HEAD = re.compile(r"\s*(?:(?:[-*+>]|\d+[.)])\s+)*")


class Screen:
    """Shows what a session gives out, and asks the user."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, emoji=False)
        self.on_terminal = self.console.is_terminal
        self.stopping = False  # whether the user does not want the rest of an answer
        self._decorated = self.on_terminal and not self.console.no_color
        self._spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" if self.console.encoding.startswith("utf") else "-\\|/"
        self._filter = render.TerminalFilter()
        self._streamed = ""
        self._tools: dict[str, str] = {}  # that run now, by the ids of their calls

    def begin(self) -> None:
        """Forget what an answer before left unfinished."""
        self.stopping, self._streamed = False, ""
        self._tools.clear()

    def live(self) -> Live:
        """Return what draws an answer as it comes, while it is entered."""
        return Live(self, console=self.console, refresh_per_second=REFRESHED, transient=True)

    def show(self, event: SessionEvent, /) -> None:
        """Show what an event says to a reader."""
        if event.agent_id is not None:
            return  # what sub-agents say among themselves
        match event.data:
            case AssistantMessageDeltaData() as delta:
                self._streamed += "".join(self._filter.feed(delta.delta_content))
                if len(self._streamed) > 2 * KEPT:
                    self._streamed = self._streamed[KEPT:]
            case AssistantMessageData() as message:
                self._filter, self._streamed = render.TerminalFilter(), ""
                self._show_message(message)
            case ToolExecutionStartData() as call:
                self._tools[call.tool_call_id] = one_line(call.tool_name)
                self.note(f"• {call.tool_name} {wire.encode_json(call.arguments)}")
            case ToolExecutionCompleteData() as call:
                name = self._tools.pop(call.tool_call_id, "a tool")
                if not call.success and call.result is not None:
                    self.note(f"• {name}: {call.result.content}")
            case SessionErrorData() as error:
                self.note(f"error: {error.message}", style="red")
            case _:
                pass

    def _show_message(self, message: AssistantMessageData) -> None:
        if message.content.strip():
            shown = render.terminal(
                message.content,
                message.citations,
                color=self._decorated,
                links=self._decorated,
                quotes=True,
            )
            self.print(shown.strip("\n"))
        if message.extra.get("interrupted"):
            self.note("(interrupted)")

    def note(self, text: str, /, *, style: str = "dim") -> None:
        """Print one line about what happens."""
        self.print(one_line(text), style=style)

    def print(self, text: str, /, *, style: str = "") -> None:
        """Print text that ``render`` made, and a blank line. Only a terminal has it wrapped."""
        if self.on_terminal:
            rows = folded(Text.from_ansi(text, style=style), self.console, self.console.width - 1)
            self.console.print(Text("\n").join([*rows, Text()]), soft_wrap=True)
        else:
            print(text, end="\n\n", flush=True)

    def question(self, text: str, /) -> None:
        """Print a question that nobody typed here."""
        self.print(f"> {render.terminal(text, None)}", style="bold")

    def ask(self, prompt: str, /) -> str | None:
        """Return a line that the user types, or the next of a pipe; None for Ctrl-C and Ctrl-D."""
        typed = sys.stdin.isatty()
        line: str | None = None
        with suppress(EOFError, KeyboardInterrupt):
            line = input(prompt if typed and self.on_terminal else "")
        if typed:
            self.console.print()
        elif line is not None:
            self.question(line)
        return line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw what is live: the last rows of what streams, and what is being done."""
        yield WRAP_OFF
        room = options.size.height - 3
        streamed = self._streamed.lstrip("\n")
        if streamed and room > 0:
            lines = streamed.rsplit("\n", room)[-room:]
            yield from folded(Text("\n".join(lines)), console, options.max_width - 1)[-room:]
            yield ""
        doing = "writing" if self._streamed else "thinking"
        doing = "stopping" if self.stopping else ", ".join(self._tools.values()) or doing
        turn = self._spinner[int(console.get_time() * REFRESHED) % len(self._spinner)]
        yield Text(f"{turn} {doing}", style="dim", overflow="ellipsis", no_wrap=True, end="")
        yield WRAP_ON


def folded(text: Text, console: Console, width: int) -> list[Text]:
    """Break the lines of ``text`` at words; below a list item or a quotation rows are indented."""
    rows = []
    for line in text.split("\n", allow_blank=True):
        head = HEAD.match(line.plain)
        size = head.end() if head and head.end() < width // 2 else 0
        margin = line[:size]
        for row in line[size:].wrap(console, max(1, width - size)):
            rows.append(margin + row)
            margin = margin.copy()
            margin.plain = re.sub(r"[^>\s]", " ", margin.plain)
    return rows


def one_line(text: str, /) -> str:
    """Make text of strangers one short line that is safe to print."""
    line = " ".join(render.terminal(text, None).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
