"""Stream model answers together with their citations."""

__all__ = ()
