"""A server that ends its streams when it stops: they would keep it waiting for ever."""

import socket

import uvicorn
from starlette.applications import Starlette

__all__ = ("Server",)


class Server(uvicorn.Server):
    """Serves an application of ``create_app``."""

    def __init__(self, app: Starlette, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then all else."""
        self._app.state.streams.end()
        await super().shutdown(sockets)
