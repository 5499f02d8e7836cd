"""The algorithm of OpenAI's published citation helper, to measure and to compare with."""

import re

START, DELIMITER, STOP = "\ue200", "\ue202", "\ue201"
SOURCE_ID = re.compile(r"^[A-Za-z0-9_-]+$")
LINES = re.compile(r"^L\d+(?:-L\d+)?$")


def extract(text, families=("cite",)):
    pattern = re.compile(
        f"{START}(?P<family>{'|'.join(map(re.escape, families))}){DELIMITER}(?P<body>.*?){STOP}",
        re.DOTALL,
    )
    found = []
    for match in pattern.finditer(text):
        parts = [part.strip() for part in match.group("body").split(DELIMITER)]
        parts = [part for part in parts if part]
        locator = parts.pop() if parts and LINES.fullmatch(parts[-1]) else None
        if parts and all(SOURCE_ID.fullmatch(part) for part in parts):
            found.append(
                {
                    "raw": match.group(0),
                    "family": match.group("family"),
                    "source_ids": parts,
                    "locator": locator,
                    "start": match.start(),
                    "end": match.end(),
                }
            )
    return found


def strip(text, found):
    for citation in sorted(found, key=lambda citation: citation["start"], reverse=True):
        text = text[: citation["start"]] + text[citation["end"] :]
    return text
