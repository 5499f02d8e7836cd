"""A chat in a terminal: answers stream, then show what they cite; tools, stopping, resuming.

::

    python -m examples.terminal_chat                         # offline, about examples/handbook.md
    python -m examples.terminal_chat notes.md --provider anthropic --model MODEL --store chats.db
    python -m examples.terminal_chat --store chats.db --resume

It wants ``pip install 'citestream[cli]'``, and ``[anthropic]`` or ``[openai]`` for a model.
``__main__`` says who answers and what the command takes, ``chat`` asks, ``screen`` shows,
``search`` is the tool.
"""
