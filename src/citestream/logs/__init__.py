"""Logs of events as others wrote them: every whole event of a damaged file, every loss reported.

``reader`` takes bytes and gives events and damage, ``damage`` and ``json_objects`` find what is
whole in lines that are damaged, ``decoding`` reads single events and leaves out what is wrong in
them. Sessions are made of logs, and logs of sessions, in ``citestream.session``.
"""

from .decoding import UpstreamEvent
from .reader import LogDamage, LogItem, LogReader

__all__ = ("LogDamage", "LogItem", "LogReader", "UpstreamEvent")
