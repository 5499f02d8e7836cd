import io
import json
import sys
from pathlib import Path

import anyio
import pytest

from citestream import SessionNotFoundError
from citestream.cli.app import run
from citestream.store import EventRecord, SQLiteStore
from damaged import SHAPES

DATA = Path(__file__).parents[1] / "data" / "copilot"
KEPT = str(DATA / "persisted-openai-markers.jsonl")
LIVE = str(DATA / "live-anthropic-citations.jsonl")
KEPT_ID = "2e1917ba-c505-4b65-bfde-f28831555db3"


@pytest.fixture
def call(capsysbinary, monkeypatch, tmp_path):
    monkeypatch.setenv("CITESTREAM_STORE", str(tmp_path / "new" / "sessions.db"))

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run(["sessions", *arguments])
        out, err = capsysbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def event(kind, name="e", **data):
    return json.dumps(
        {"id": name, "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    ).encode()


def test_a_log_is_imported_listed_shown_exported_and_deleted(call, tmp_path):
    assert call("import", KEPT) == (0, f"{KEPT_ID}\n", "")
    status, out, err = call("list")
    assert (status, err) == (0, "")
    session_id, modified, summary = out.rstrip("\n").split("\t")
    assert (session_id, summary) == (KEPT_ID, "Ask kb")
    assert modified.endswith("+00:00")
    status, out, err = call("show", KEPT_ID)
    assert (status, err) == (0, "")
    assert out.startswith("> Ask kb\n\n## On-call handoff\n\nThe outgoing engineer posts")
    assert "before 09:00 UTC.[^1]" in out
    status, out, err = call("export", KEPT_ID)
    assert (status, err, len(out.splitlines())) == (0, "", 14)
    copy = tmp_path / "copy.jsonl"
    assert call("export", KEPT_ID, "-o", str(copy)) == (0, "", "")
    assert copy.read_text("ascii") == out
    assert call("delete", KEPT_ID, "--yes") == (0, "", "")
    assert call("list") == (0, "", "")
    assert call("import", str(copy)) == (0, f"{KEPT_ID}\n", "")
    assert call("export", KEPT_ID)[1] == out


def test_the_list_as_json(call):
    call("import", KEPT)
    listed = json.loads(call("list", "--format", "json")[1])
    assert list(listed) == ["sessionId", "startTime", "modifiedTime", "summary"]
    assert (listed["sessionId"], listed["summary"]) == (KEPT_ID, "Ask kb")


def test_show_as_json_prints_the_processed_events(call):
    call("import", KEPT)
    events = [
        json.loads(line) for line in call("show", KEPT_ID, "--format", "json")[1].splitlines()
    ]
    finals = [one["data"] for one in events if one["type"] == "assistant.message"]
    assert [source["id"] for source in finals[-1]["citations"]["sources"]] == [
        "s0",
        "s1",
        "s2",
        "s3",
    ]


def test_what_was_cut_off_is_shown_as_far_as_it_goes(call):
    log = event("assistant.message_delta", messageId="m", deltaContent="Half an answ \ue200")
    call("import", "-", "--id", "s", stdin=log)
    assert call("show", "s") == (
        0,
        "Half an answ\n",
        "s: message 'm' is cut off: its final event is missing\n",
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_damage_is_named_and_the_rest_is_imported(call, shape):
    data, survivors, damage = SHAPES[shape]
    status, out, err = call("import", "-", "--id", "s", stdin=data)
    assert (status, out) == (0, "s\n")
    assert [line.split(": ")[0] for line in err.splitlines()] == [
        f"-:{line}" for _, line, *_ in damage
    ]
    exported = call("export", "s")[1].splitlines()
    assert [json.loads(line)["id"] for line in exported] == survivors


def test_each_log_is_a_session_and_none_keeps_another_from_it(call, tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    status, out, err = call("import", KEPT, str(empty), "nowhere", KEPT, LIVE)
    assert status == 1
    first, second = out.splitlines()
    assert (first, len(second)) == (KEPT_ID, 36)
    assert err.splitlines() == [
        f"citestream: error: {empty}: events: wanted at least one, got none",
        "citestream: error: nowhere: No such file or directory",
        f"citestream: error: {KEPT}: session '{KEPT_ID}': there is one of this id already",
    ]
    assert [line.split("\t")[0] for line in call("list")[1].splitlines()] == [second, first]


def test_ids_that_are_not_unique_are_told(call):
    log = event("abort") + b"\n" + event("abort", reason="x")
    assert call("import", "-", "--id", "s", stdin=log) == (
        0,
        "s\n",
        "-: events that got ids of their own: 1\n",
    )


def test_nothing_hostile_reaches_the_terminal(call):
    hostile = "\x1b[2J\u202eab\tc\nd"
    call("import", "-", "--id", "s", stdin=event("user.message", content=hostile))
    assert call("list")[1].split("\t")[2] == "\ufffd[2J\ufffdab c d\n"
    assert "\x1b" not in call("show", "s", "--format", "terminal")[1]
    wanted = "session_id: wanted 1 to 128 letters, digits or any of '._:-'"
    for command in ("show", "export", "delete"):
        told = f"citestream: error: {wanted}, got {hostile!a}\n"
        assert call(command, hostile) == (1, "", told)
    start = event("session.start", sessionId=hostile)
    assert "\x1b" not in call("import", "-", stdin=start)[2]


def test_deleting_asks(call):
    call("import", KEPT, LIVE)
    second = call("list")[1].split("\t")[0]
    ask = f"Delete {KEPT_ID} and {second}? [y/N] "
    no = "citestream: error: delete: nothing was deleted, as nobody said yes\n"
    for answer in (b"", b"n\n", b"\n"):
        assert call("delete", KEPT_ID, second, stdin=answer) == (1, "", ask + no)
    missing = "citestream: error: session 'x': not found\n"
    assert call("delete", KEPT_ID, "x", "--yes") == (1, "", missing)
    assert len(call("list")[1].splitlines()) == 2
    assert call("delete", KEPT_ID, second, KEPT_ID, stdin=b"Yes\n") == (0, "", ask)
    assert call("list") == (0, "", "")


def test_where_sessions_are_kept(call, monkeypatch, tmp_path):
    monkeypatch.delenv("CITESTREAM_STORE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    usual = tmp_path / ".local" / "state" / "citestream" / "sessions.db"
    assert call("list") == (
        1,
        "",
        f"citestream: error: {usual}: there is no such file, so no session is kept in it\n",
    )
    assert not usual.exists()
    assert call("import", KEPT)[0] == 0
    assert usual.is_file()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert call("import", KEPT)[0] == 0
    assert (tmp_path / "state" / "citestream" / "sessions.db").is_file()
    named = str(tmp_path / "named.db")
    assert call("import", KEPT, "--store", named)[0] == 0
    assert len(call("list", "--store", named)[1].splitlines()) == 1


def test_without_a_home_a_path_is_wanted(call, monkeypatch):
    def homeless():
        raise RuntimeError

    monkeypatch.delenv("CITESTREAM_STORE")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert call("list") == (
        1,
        "",
        "citestream: error: --store: wanted a path, as there is no home folder\n",
    )


def test_what_is_no_store_is_one_line(call, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes and no database, but longer than its head is." * 9)
    status, out, err = call("list", "--store", str(path))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"citestream: error: {path}: ")


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (["show", "x"], 1, "session 'x': not found"),
        (["export", "x", "-o", "out.jsonl"], 1, "session 'x': not found"),
        (["export", "e"], 0, None),
        (["export", "e", "-o", "."], 1, ".: Is a directory"),
        (["import", "a", "b", "--id", "s"], 1, "--id: wanted a single log, got 2"),
        (["show"], 2, "Missing argument 'SESSION'."),
        (["frob"], 2, "No such command 'frob'."),
    ],
)
def test_errors_are_one_line(call, monkeypatch, tmp_path, arguments, status, problem):
    monkeypatch.chdir(tmp_path)
    call("import", "-", "--id", "e", stdin=event("abort"))
    found, _, err = call(*arguments)
    assert (found, err) == (status, f"citestream: error: {problem}\n" if problem else "")
    assert not (tmp_path / "out.jsonl").exists()


def test_help(call):
    assert "import" in call()[1]
    out = " ".join(call("import", "--help")[1].split())
    assert "Usage: citestream sessions import" in out
    assert "CITESTREAM_STORE" in out


def test_what_cannot_be_read_any_more_keeps_nothing_else_from_being_shown(call, tmp_path):
    call(
        "import", "-", "--id", "s", stdin=event("assistant.message", messageId="m", content="One.")
    )

    async def spoil():
        async with SQLiteStore(tmp_path / "new" / "sessions.db") as store:
            lease = await store.acquire("s")
            await store.append(lease, [EventRecord(event_id="x", type="user.message", body="{")])
            with pytest.raises(SessionNotFoundError):
                await store.get("t")

    anyio.run(spoil)
    assert call("show", "s")[:2] == (0, "One.\n")
