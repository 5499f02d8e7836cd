"""A process that answers until it is killed: ``python writer.py STORE SESSION``.

It prints a line for every event that was kept for good, and for every delta that was given out.
"""

import sys
from itertools import count

import anyio

from citestream import Client, SQLiteStore, format_marker
from citestream.events import AnswerEnd, AnswerText
from citestream.sources import Granularity, from_text

RULES = from_text("Meals are paid.\nAlcohol is not.", title="Rules")


class Endless:
    """Answers two questions at once, and never finishes the third."""

    def __init__(self):
        self.asked = count()

    async def answer(self, _exchange):
        last = next(self.asked) == 2
        for number in count():
            await anyio.sleep(0.001)
            yield AnswerText(text=f"{number} ")
            if number % 5 == 4:
                yield AnswerText(text=format_marker("rules", locator="L1"))
            if not last and number == 20:
                break
        yield AnswerEnd()


async def main(path, session_id):
    async with Client(provider=Endless(), store=SQLiteStore(path)) as client:
        session = await client.create_session(session_id=session_id, enable_citations=True)
        session.sources.add(RULES, granularity=Granularity.LINE, alias="rules")

        def tell(event):
            text = getattr(event.data, "delta_content", None)
            word = "kept" if text is None else "delta"
            sys.stdout.write(f"{word} {event.id} {event.type.value}\n")
            sys.stdout.flush()

        session.on(tell)
        for question in "123":
            await session.send_and_wait(question, timeout=None)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
