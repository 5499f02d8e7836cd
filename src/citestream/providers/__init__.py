"""Where answers come from: one provider per file, each of them pure.

======================  ===========================================================================
``extractive``          answers offline, with the passages of the sources that match a question best
``passages``            the sentences, rows and headings of a source, and where they stand
``terms``               words and character pairs that are compared, whatever the language
``ranking``             which passages match a question, by BM25
======================  ===========================================================================

A provider gives the events of an upstream: feed them to a ``Session`` or a ``Resolver``.
"""

from .extractive import Extractive, ExtractiveOptions

__all__ = ("Extractive", "ExtractiveOptions")
