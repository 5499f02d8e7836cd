"""What a marker supports: the range of the answer that a citation is shown for.

``regions`` finds the paragraphs, list items and cells that a claim stays within, ``sentences`` cuts
them into sentences, ``spans`` finds the claims.
"""

from .regions import Region, regions
from .sentences import SENTENCE_WINDOW, split_sentences
from .spans import CLAIM_SPANS, claim_spans

__all__ = ("CLAIM_SPANS", "SENTENCE_WINDOW", "Region", "claim_spans", "regions", "split_sentences")
