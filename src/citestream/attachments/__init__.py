"""What users attach to a message: mappings in the shapes of the Copilot SDK become documents.

``shapes`` checks the mappings, ``files`` opens what lies inside the working directory and nothing
else, ``folders`` goes through one, ``documents`` reads it all. Registering what was read is in
``citestream.session``.
"""

from .documents import ReadAttachment, attachment_payloads, read_attachments
from .folders import SUFFIXES

__all__ = ("SUFFIXES", "ReadAttachment", "attachment_payloads", "read_attachments")
