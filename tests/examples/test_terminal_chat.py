"""The terminal chat: through pipes, and in a terminal whose screen is compared.

Run as a script, this file is the chat with a provider of the tests, which says what it is asked
for and waits where the test has something to look at.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from citestream import format_marker
from citestream.events import AnswerEnd, AnswerText, AnswerToolCall
from providers.calling import WIRES, Call, streamed
from providers.loopback import SSE, Loopback, Reply, drawn, sse

ROOT = Path(__file__).parents[2]
CHAT = [sys.executable, "-m", "examples.terminal_chat"]
DOUBLE = [sys.executable, str(Path(__file__))]
SECONDS = 40  # until a test gives up
PROMPT = re.compile(rb"> (?:\x1b\[[0-9;?]*[a-zA-Z])*\Z")
ENV = {
    name: value
    for name, value in os.environ.items()
    if name not in {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"}
} | {
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
    "PYTHONUTF8": "1",
    "TERM": "xterm-256color",
}

STEERING = "\x1b[2J\x1b[5;35m\x1b]52;c;ZXZpbA==\x07\x1b]8;;https://evil.test\x1b\\\x9b31m\x08\r\x90"
JOINERS = re.compile("\u200d|\ufe0f".encode())
LINES = "\n".join(f"{number}. line {number} " + "of it " * 20 for number in range(60))
EMOJI = "👨‍👩‍👧‍👦 ❤️ 日本語 e\u0301 \u202eevil\u202c\ttab 🇯🇵 " * 12


# -- a provider of the tests


class Double:
    """Answers by the last word of a question. ``wait`` waits until the test writes a byte."""

    def __init__(self, gate):
        self.gate = gate

    async def wait(self):
        await anyio.wait_readable(self.gate)
        os.read(self.gate, 1)

    async def answer(self, exchange):
        *_, turn = exchange.conversation.turns
        name = getattr(turn, "text", "").split()[-1] if hasattr(turn, "text") else ""
        if getattr(turn, "name", None) is not None:
            name = "found"
        async for text in getattr(self, name)(turn):
            if isinstance(text, str):
                for piece in re.findall("(?s).{1,3}", text):
                    yield AnswerText(text=piece)
                    await anyio.lowlevel.checkpoint()
            else:
                yield text
        yield AnswerEnd(model="double")

    async def hostile(self, _):
        await self.wait()
        marker = format_marker("turn0file0", locator="L54")
        yield f"Meals{STEERING} are paid. {marker[:9]}"
        await self.wait()
        yield f"{marker[9:]} The rest is words.{STEERING[:1]}"
        await self.wait()
        yield STEERING[1:]

    async def tool(self, _):
        yield "Let me look."
        arguments = {"query": f"alarm {STEERING}"}
        yield AnswerToolCall(call_id="a", name=f"none{STEERING}", arguments={})
        yield AnswerToolCall(call_id="b", name="search_files", arguments=arguments)

    async def found(self, turn):
        await self.wait()
        if not turn.materials:
            yield "I may not look."
            return
        found = turn.materials[0].source.id
        yield f"An alarm pays 60 EUR. {format_marker(found, locator='L3-L4')}"

    async def endless(self, _):
        yield "It begins"
        await self.wait()
        yield " and does not end."
        await anyio.sleep_forever()

    async def stubborn(self, _):
        yield "It begins"
        with anyio.CancelScope(shield=True):
            await self.wait()

    async def long(self, _):
        yield LINES[: len(LINES) // 2]
        await self.wait()
        yield LINES[len(LINES) // 2 :] + format_marker("turn0file0", locator="L54")

    async def emoji(self, _):
        yield EMOJI
        await self.wait()
        yield "\n\nThe end."


# -- a terminal


class Terminal:
    """A process in a terminal of its own. ``raw`` is all that it wrote."""

    def __init__(self, *arguments, rows=24, columns=80, **env):
        import pty  # noqa: PLC0415 - not on Windows

        import pyte  # noqa: PLC0415

        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.typed = 0  # bytes of ``raw`` before the last keys
        self._master, slave = pty.openpty()
        gate, self._gate = os.pipe()
        self.resize(rows, columns)
        self.process = subprocess.Popen(  # noqa: S603 - our own code
            [*DOUBLE, str(gate), *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env=ENV | env,
            pass_fds=[gate],
            start_new_session=True,
        )
        os.close(slave)
        os.close(gate)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._gate)

    def resize(self, rows, columns):
        import fcntl  # noqa: PLC0415 - not on Windows
        import struct  # noqa: PLC0415
        import termios  # noqa: PLC0415

        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self.screen.resize(rows, columns)

    def type(self, keys):
        self.typed = len(self.raw)
        os.write(self._master, keys.encode())

    def go_on(self):
        """Let the provider go on where it waits."""
        os.write(self._gate, b".")

    def until(self, condition):
        """Read what the process writes until ``condition`` is true of the screen."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, "\n".join(self.rows)
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # what Linux says when the process is leaving
                    self.process.wait(SECONDS)
                    assert condition(), "\n".join(self.rows)
                    return
                self.raw += data
                # pyte leaves out what stands behind such characters, and no terminal does.
                self._stream.feed(JOINERS.sub(b"", data))

    def sees(self, text):
        self.until(lambda: any(text in row for row in self.rows))

    def ask(self, question):
        self.type(f"{question}\r")

    def drawn_again(self):
        """Wait until what is live was drawn twice more."""
        wanted = self.raw.count(FRAME) + 2
        self.until(lambda: self.raw.count(FRAME) >= wanted)

    def answered(self):
        """Wait until the next question may be typed."""
        self.until(lambda: len(self.raw) > self.typed + 20 and self.at_prompt())

    def at_prompt(self):
        cursor = self.screen.cursor
        shown = self.rows[cursor.y] == ">" and not cursor.hidden
        return shown and PROMPT.search(self.raw[-64:]) is not None

    def left(self):
        """Wait until the process has ended and return its status."""
        self.until(lambda: self.process.poll() is not None)
        return self.process.wait(SECONDS)

    def _row(self, cells):
        return "".join(cells[column].data for column in range(self.screen.columns)).rstrip()

    @property
    def rows(self):
        """What the screen shows."""
        return [self._row(self.screen.buffer[number]) for number in range(self.screen.lines)]

    @property
    def text(self):
        """All rows, also those that were scrolled away."""
        return "\n".join([*map(self._row, self.screen.history.top), *self.rows])

    def words(self):
        return " ".join(self.text.split())


FRAME = b"\x1b[?7l"  # begins what is live
OWN = re.compile(r"\x1b\[(?:[0-9]*[AK]|\?(?:7|25|2004)[hl]|[0-9;]*m)")


def assert_harmless(raw):
    """Nothing but what this program itself draws with steers the terminal, and no marker shows."""
    text = raw.decode()
    assert "\x1b[5;35m" not in text
    left = OWN.sub("", text)
    assert re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue200-\ue206\u202e]", left) is None
    assert "turn0file0" not in left


@pytest.fixture
def terminal():
    """Start the chat in a terminal and wait for its prompt."""
    pytest.importorskip("pty")
    pytest.importorskip("pyte")
    made = []

    def start(*arguments, **options):
        made.append(Terminal(*arguments, **options))
        made[-1].until(made[-1].at_prompt)
        return made[-1]

    yield start
    for one in made:
        one.close()


# -- pipes


def piped(*arguments, lines, command=CHAT, status=0, **env):
    done = subprocess.run(  # noqa: S603 - our own code
        [*command, *map(str, arguments)],
        input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True,
        cwd=ROOT,
        env=ENV | env,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == status, done.stderr.decode()
    return (done.stdout if status == 0 else done.stderr).decode()


ALCOHOL = """\
> Is alcohol paid for?

No model wrote this: it quotes what matches your question best in the sources.

- Alcohol is never paid for. [1]

[1] handbook.md, line 54
    > takes 9 EUR off. Alcohol is never paid for.

"""


def test_a_pipe_gets_answers_with_their_footnotes_and_nothing_else():
    assert piped(lines=["Is alcohol paid for?", "", "/sources"]) == (
        f"{ALCOHOL}> \n\n> /sources\n\nturn0file0 handbook.md\n\n"
    )


def test_a_file_of_ones_own_and_commands():
    out = piped("examples/on-call.jsonl", lines=["/sources", "/help", "/new", "/quit", "lost"])
    assert "turn0file0 on-call.jsonl" in out
    assert "/quit     leave" in out
    assert "lost" not in out


def test_what_was_kept_is_shown_again_with_its_citations(tmp_path):
    store = ["--store", tmp_path / "chats.db"]
    first = piped(*store, lines=["Is alcohol paid for?"])
    assert first.startswith(ALCOHOL)
    name = first.removeprefix(ALCOHOL).strip()
    assert piped(*store, lines=["/new"]) != first
    by_id = piped(*store, "--resume", name.removeprefix("session "), lines=["How much is a meal?"])
    assert by_id.startswith(f"{ALCOHOL}> How much is a meal?")
    assert by_id.strip().endswith(name)
    unknown = piped(*store, "--resume", "unknown", lines=[], status=1)
    assert unknown.startswith("terminal_chat: error: ")
    assert piped(*store, "--resume", lines=["/sources"]) == by_id.replace(
        name, f"> /sources\n\nturn0file0 handbook.md\n\n{name}"
    )


def test_no_characters_and_no_bytes_end_it():
    done = subprocess.run(  # noqa: S603 - our own code
        CHAT,
        input=b"Is \xff alcohol \x1b[2J paid?\n",
        capture_output=True,
        cwd=ROOT,
        env=ENV | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        timeout=SECONDS,
        check=True,
    )
    assert b"> Is ? alcohol ?[2J paid?" in done.stdout
    assert b"never paid for. [1]" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["--resume"], 2, "--resume wants --store"),
        (["--provider", "openai", "--model", "m"], 2, "wants --model and OPENAI_API_KEY"),
        (["nowhere.txt"], 1, "terminal_chat: error: [Errno 2] No such file"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, status, told):
    out = piped(*arguments, lines=[], status=status, OPENAI_API_KEY="")
    assert told in out.splitlines()[-1]
    assert "Traceback" not in out


# -- the clients of vendors, which talk to this machine


def sse_of(chunks):
    return Reply(headers=SSE, pieces=drawn(b"".join(sse(one, event=one["type"]) for one in chunks)))


SEARCH = Call("c1", "search_files", '{"query": "alarm at night"}')


def cites_with_a_marker(request):
    found = re.search(r"turn\d+file\d+", str(request.body["input"]))
    text = f"It pays 60 EUR. {format_marker(found[0], locator='L3-L4')}"
    return sse_of(streamed(WIRES["openai"], [], text=text))


def cites_a_search_result(request):
    content = request.body["messages"][-1]["content"][0]["content"]
    result = next(one for one in content if one["type"] == "search_result")
    citation = {
        "type": "search_result_location",
        "cited_text": result["content"][0]["text"],
        "source": result["source"],
        "title": result["title"],
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
    }
    chunks = streamed(WIRES["anthropic"], [], text="It pays 60 EUR.", reason="end_turn")
    delta = {"type": "content_block_delta", "index": 0}
    chunks.insert(2, {**delta, "delta": {"type": "citations_delta", "citation": citation}})
    return sse_of(chunks)


@pytest.mark.parametrize(
    ("vendor", "path", "answer"),
    [("anthropic", "", cites_a_search_result), ("openai", "/v1", cites_with_a_marker)],
)
def test_a_vendors_client_calls_the_tool_and_cites_what_it_found(vendor, path, answer):
    pytest.importorskip(vendor)
    with Loopback(sse_of(streamed(WIRES[vendor], [SEARCH])), answer) as server:
        key = {
            f"{vendor.upper()}_API_KEY": "none",
            f"{vendor.upper()}_BASE_URL": server.url + path,
        }
        out = piped(
            *("--provider", vendor, "--model", "m", "--yes"), lines=["What does it pay?"], **key
        )
    assert '• search_files {"query":"alarm at night"}' in out
    assert "It pays 60 EUR. [1]\n\n[1] handbook.md: 1.5 Pay and rest, " in out
    assert "    > A week as primary pays 350 EUR" in out
    assert server.requests[0].body["tools"][0]["name"] == "search_files"


def test_without_a_user_no_tool_runs_that_was_not_allowed():
    pytest.importorskip("openai")
    wire = WIRES["openai"]
    final = streamed(wire, [], text="I may not look.")
    with Loopback(sse_of(streamed(wire, [SEARCH])), sse_of(final)) as server:
        out = piped(
            *("--provider", "openai", "--model", "m"),
            lines=["What does it pay?"],
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.url,
        )
    assert "• search_files: The tool was not run" in out
    assert "I may not look." in out


# -- a terminal


def test_what_streams_never_steers_the_terminal_and_shows_no_marker(terminal):
    chat = terminal()
    chat.ask("hostile")
    chat.sees("thinking")
    assert chat.screen.cursor.hidden
    chat.go_on()
    chat.sees("are paid.")
    chat.sees("writing")
    assert_harmless(chat.raw)
    chat.go_on()
    chat.sees("is words.")
    assert "[1]" not in chat.text
    assert_harmless(chat.raw)
    chat.go_on()
    chat.answered()
    assert_harmless(chat.raw)
    assert "are paid. [" in chat.text
    assert "    > takes 9 EUR off. Alcohol is never paid for." in chat.text
    assert chat.words().count("The rest is words.") == 1
    assert "writing" not in chat.text
    assert "thinking" not in chat.text
    chat.type("\x04")
    assert chat.left() == 0
    assert not chat.screen.cursor.hidden


def test_the_first_screen(terminal):
    chat = terminal("--offline")
    chat.ask("Is alcohol paid for?")
    chat.answered()
    assert chat.text.rstrip() == ALCOHOL.rstrip() + "\n\n>"
    numbered = chat.screen.buffer[4]
    assert [numbered[x].fg for x in (0, 29, 30, 31)] == ["default", "cyan", "cyan", "cyan"]


def test_no_color(terminal):
    chat = terminal("--offline", NO_COLOR="1")
    chat.ask("Is alcohol paid for?")
    chat.answered()
    assert "never paid for. [1]" in chat.text
    assert re.search(rb"\x1b\[[0-9;]*[34][0-9]", chat.raw) is None
    assert b"\x1b]8" not in chat.raw


@pytest.mark.parametrize(("key", "said"), [("y", "An alarm pays 60 EUR. [1]"), ("n", "I may not")])
def test_a_tool_runs_when_the_user_allows_it(terminal, key, said):
    chat = terminal()
    chat.ask("tool")
    chat.sees("[y/n]")
    assert not chat.screen.cursor.hidden
    chat.type(f"{key}\r")
    chat.sees("• search_files")
    chat.sees("thinking")
    chat.go_on()
    chat.answered()
    assert_harmless(chat.raw)
    assert said in chat.text
    assert ("> moves the start of the next workday" in chat.text) == (key == "y")
    assert ("the user did not allow it" in chat.words()) == (key == "n")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_to_stop_where_a_tool_asks_stops_the_answer(terminal, key):
    chat = terminal()
    chat.ask("tool")
    chat.sees("[y/n]")
    chat.type(key)
    chat.answered()
    assert "I may not look" not in chat.text
    chat.ask("/quit")
    assert chat.left() == 0


def test_ctrl_c_stops_an_answer_and_then_leaves(terminal, tmp_path):
    chat = terminal("--store", tmp_path / "chats.db")
    chat.ask("endless")
    chat.sees("It begins")
    chat.go_on()
    chat.sees("does not end")
    chat.type("\x03")
    chat.answered()
    assert "It begins and does not end.\n\n(interrupted)\n\n>" in chat.text
    chat.type("\x03")
    assert chat.left() == 0
    assert "session " in chat.text
    chat = terminal("--store", tmp_path / "chats.db", "--resume")
    assert "> endless\n\nIt begins and does not end.\n\n(interrupted)" in chat.text


def test_what_a_killed_chat_was_saying_is_kept(terminal, tmp_path):
    chat = terminal("--store", tmp_path / "chats.db")
    chat.ask("endless")
    chat.sees("It begins")
    chat.drawn_again()
    chat.process.kill()
    chat.process.wait()
    chat = terminal("--store", tmp_path / "chats.db", "--resume")
    assert "> endless\n\nIt begins\n\n(interrupted)\n\n>" in chat.text


def test_a_second_ctrl_c_leaves_an_answer_that_does_not_stop(terminal):
    chat = terminal()
    chat.ask("stubborn")
    chat.sees("It begins")
    chat.type("\x03")
    chat.sees("stopping")
    chat.type("\x03")
    chat.until(lambda: not chat.screen.cursor.hidden)
    chat.go_on()
    assert chat.left() == 0
    assert b"Traceback" not in chat.raw


def test_an_answer_taller_than_the_screen_is_there_once(terminal):
    chat = terminal(rows=20)
    chat.ask("long")
    chat.sees("29. line 29")
    chat.drawn_again()
    assert "line" not in chat.text.partition("> long")[0]
    assert chat.text.count("29. line 29") == 1
    assert "0. line 0" not in chat.text  # it is not scrolled away but drawn over
    chat.go_on()
    chat.answered()
    rows = chat.text.splitlines()
    for number in range(60):
        assert sum(row.startswith(f"{number}. line {number} ") for row in rows) == 1
    assert chat.words().count("of it") == 60 * 20
    assert rows.count("> long") == 1
    assert "writing" not in chat.text


def test_what_is_typed_meanwhile_is_the_next_question(terminal):
    chat = terminal()
    chat.ask("long")
    chat.sees("29. line 29")
    chat.type("/help\r")
    chat.go_on()
    chat.sees("> /help")
    chat.sees("/quit     leave")
    assert chat.text.count("/help") == 1
    assert chat.words().count("of it") == 60 * 20


@pytest.mark.parametrize("rows", [1, 4])
def test_a_screen_of_few_rows(terminal, rows):
    chat = terminal(rows=rows)
    chat.ask("long")
    chat.sees("writing")
    chat.drawn_again()
    chat.go_on()
    chat.answered()
    assert chat.words().count("of it") == 60 * 20


@pytest.mark.parametrize("columns", [40, 12])
def test_a_terminal_that_becomes_narrow(terminal, columns):
    chat = terminal()
    chat.ask("long")
    chat.sees("29. line 29")
    chat.resize(24, columns)
    chat.drawn_again()
    chat.go_on()
    chat.answered()
    rows = chat.text.splitlines()
    assert sum(row.startswith("59. line") for row in rows) == 1
    assert sum(row.startswith("0. line") for row in rows) == 1
    assert chat.words().count("of it") >= 60 * 20 - 30  # "of" and "it" may stand in two rows


@pytest.mark.parametrize("columns", [80, 40])
def test_characters_of_any_width_leave_nothing_behind(terminal, columns):
    chat = terminal(columns=columns)
    chat.ask("emoji")
    chat.sees("writing")
    chat.sees("🇯")
    chat.go_on()
    chat.answered()
    assert_harmless(chat.raw)
    assert chat.text.count("日") == 12
    assert chat.text.count("> emoji") == 1


def take_terminal():
    """Make the terminal on stdin that of this process, and Ctrl-C what it usually is."""
    import fcntl  # noqa: PLC0415 - not on Windows
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    from examples.terminal_chat.__main__ import main

    take_terminal()
    gate, *arguments = sys.argv[1:]
    offline = "--offline" in arguments
    if offline:
        arguments.remove("--offline")
    sys.exit(main(arguments, provider=None if offline else Double(int(gate))))
