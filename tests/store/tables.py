"""A database in memory to test single functions with."""

import sqlite3

from citestream.store.sqlite.heads import Heads
from citestream.store.sqlite.schema import SCHEMA
from citestream.store.sqlite.sessions import Claim, create

__all__ = ("new_session", "tables")


def tables():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    for statement in SCHEMA:
        connection.execute(statement)
    return connection


def new_session(connection, name="s", /, *, owner=None, holder="w", now=100.0):
    claim = Claim(session_id=name, owner=owner, holder=holder, seconds=30.0)
    return create(connection, Heads(), now, claim=claim)
