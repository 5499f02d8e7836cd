import io
import sys

import pytest

from citestream.cli import output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc 📎 週", "a\tb\nc 📎 週"),
        ("a\r\nb", "a\nb"),
        ("\u2068שלום\u2069 \u2067", "\u2068שלום\u2069 \ufffd"),
        ("a\rb\x1b]8;;x\x07\x9b\u202e", "a\ufffdb\ufffd]8;;x\ufffd\ufffd\ufffd"),
    ],
)
def test_nothing_steers_the_terminal(text, shown):
    assert output.printable(text) == shown


def test_complaints_are_one_line_whatever_the_locale(capsys):
    output.complain("é\n\x1b[2J")
    assert capsys.readouterr().err == "\\xe9 \\ufffd[2J\n"


def test_text_is_written_as_utf8(capsysbinary):
    output.write("週\ud83d")
    assert capsysbinary.readouterr().out == "週?".encode()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "size", "shown"),
    [
        (Terminal, 5_000_000, True),
        (Terminal, 5_000, False),
        (Terminal, None, False),
        (io.StringIO, 5_000_000, False),
    ],
)
def test_a_bar_is_shown_for_long_logs_on_a_terminal(monkeypatch, stream, size, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with output.bar(size) as progress:
        assert (progress is not None) is shown
        if progress is not None:
            progress(2_500_000)
    assert ("2.5/5.0 MB" in sys.stderr.getvalue()) is shown
