"""The terms that questions and passages are compared by, in any language.

In: text. Out: words without case and ending, and pairs of characters for scripts that put no blanks
between words. Endings are taken off by snowballstemmer, in the language that the question seems to
be in: the one most of whose stop words (those of bm25s) it holds.

=====================  =========================================================================
Han                    every character and every pair of neighbours
kana, Hangul, Thai...  every pair of neighbours, a character that stands alone
any other              the word
=====================  =========================================================================

Deliberately elsewhere: what terms weigh (``ranking``).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import snowballstemmer
from bm25s import stopwords

__all__ = ("LANGUAGES", "language_of", "question_terms", "text_terms")

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_PAIRED = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _SPACELESS
# Vowel signs and accents belong to the word although ``\w`` leaves them out.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff"
)
_RUN = re.compile(
    f"(?P<han>[{_HAN}]+)|(?P<hiragana>[{_HIRAGANA}]+)|(?P<pairs>[{_KATAKANA}]+|[{_HANGUL}]+"
    f"|[{_SPACELESS}]+)|(?P<word>(?:[^\\W_{_PAIRED}]|[{_SIGNS}])+)"
)


def _stop_words() -> dict[str, frozenset[str]]:
    asking = (
        *("get", "gets", "happen", "happens", "long", "many", "may", "might", "much", "must"),
        *("often", "shall", "tell", "would"),
    )
    lists: dict[str, Iterable[str]] = {
        "english": (*stopwords.STOPWORDS_EN_PLUS, *asking),
        "danish": stopwords.STOPWORDS_DANISH,
        "dutch": stopwords.STOPWORDS_DUTCH,
        "french": stopwords.STOPWORDS_FRENCH,
        "german": stopwords.STOPWORDS_GERMAN,
        "italian": stopwords.STOPWORDS_ITALIAN,
        "norwegian": stopwords.STOPWORDS_NORWEGIAN,
        "portuguese": stopwords.STOPWORDS_PORTUGUESE,
        "russian": stopwords.STOPWORDS_RUSSIAN,
        "spanish": stopwords.STOPWORDS_SPANISH,
        "swedish": stopwords.STOPWORDS_SWEDISH,
        "turkish": stopwords.STOPWORDS_TURKISH,
    }
    return {name: frozenset(words) for name, words in lists.items()}


_STOP_WORDS = _stop_words()
LANGUAGES = tuple(_STOP_WORDS)
"""The languages whose endings and stop words are known; English where a question shows none."""


def language_of(text: str, /) -> str:
    """Return the language of LANGUAGES that most words of ``text`` are stop words of.

    >>> language_of("Wie viel kostet das Hotel?"), language_of("hotel 2026")
    ('german', 'english')
    """
    words = [run[0] for run in _runs(text) if run.lastgroup == "word"]
    counts = [sum(word in known for word in words) for known in _STOP_WORDS.values()]
    return LANGUAGES[counts.index(max(counts))]


def text_terms(text: str, /, *, language: str) -> list[str]:
    """Return the terms of ``text``, in order, each as often as it occurs.

    >>> text_terms("Meals: 食事代", language="english")
    ['meal', '食', '事', '代', '食事', '事代']
    """
    return list(_terms(_runs(text), language=language))


def question_terms(text: str, /, *, language: str) -> list[str]:
    """Return the terms of a question, each once, without those that carry no meaning of their own.

    These are stop words and, beside other characters, kana that write endings. A question of
    nothing else keeps them.

    >>> question_terms("How much are the meals?", language="english")
    ['meal']
    """
    runs = list(_runs(text))
    telling = [
        run for run in runs if run.lastgroup != "hiragana" and run[0] not in _STOP_WORDS[language]
    ]
    return list(dict.fromkeys(_terms(telling or runs, language=language, alone=False)))


def _runs(text: str) -> Iterator[re.Match[str]]:
    return _RUN.finditer(unicodedata.normalize("NFKC", text).casefold())


def _terms(runs: Iterable[re.Match[str]], *, language: str, alone: bool = True) -> Iterator[str]:
    """Give the terms of ``runs``; ``alone`` says whether characters in pairs are terms too."""
    for run in runs:
        text = run[0]
        if run.lastgroup == "word":
            yield _stem(text, language)
            continue
        if len(text) == 1 or (alone and run.lastgroup == "han"):
            yield from text
        yield from map("".join, pairwise(text))


@lru_cache(maxsize=65536)
def _stem(word: str, language: str) -> str:
    stem = _stemmer(language).stemWord(word)
    # Accents go last: endings are known with them, but not everyone types them.
    return "".join(c for c in unicodedata.normalize("NFKD", stem) if not unicodedata.combining(c))


@cache
def _stemmer(language: str) -> Any:  # noqa: ANN401 - the library has no types
    return snowballstemmer.stemmer(language)
