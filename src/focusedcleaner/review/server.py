"""The review page as a web server on this machine: routes, and a socket that only this machine can reach."""

from __future__ import annotations

import socket
import sqlite3
import threading
import webbrowser
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote, unquote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from focusedcleaner.errors import InputError
from focusedcleaner.report import template_environment
from focusedcleaner.report.svg import badge
from focusedcleaner.review import ranking, view
from focusedcleaner.review.export import export
from focusedcleaner.review.guard import Guard
from focusedcleaner.review.page import Review
from focusedcleaner.review.store import LONGEST_NAME, LONGEST_NOTE, checked_reviewer
from focusedcleaner.review.view import ORDERS, STATES, View

HOST = "127.0.0.1"
COOKIE = "focusedcleaner-reviewer"
_YEAR = 365 * 24 * 3600
_T = TypeVar("_T")


# Routes --------------------------------------------------------------------------------------------------------------


def application(review: Review, *, port: int, reviewer: str, title: str) -> Starlette:
    """Return the page as an ASGI application.

    Args:
        review: the run under review.
        port: the server's port; requests for another host or port are refused.
        reviewer: the reviewer's name until another one is entered.
        title: the name of the run.
    """
    routes = Routes(review, reviewer, title)
    return Starlette(
        routes=[
            Route("/", routes.show),
            Route("/decide", routes.decide, methods=["POST"]),
            Route("/note", routes.note, methods=["POST"]),
            Route("/undo", routes.undo, methods=["POST"]),
            Route("/reviewer", routes.name_reviewer, methods=["POST"]),
            Route("/rerank", routes.rerank, methods=["POST"]),
            Route("/restore", routes.restore, methods=["POST"]),
            Route("/export.{kind:str}", routes.export),
            Mount("/static", StaticFiles(packages=[("focusedcleaner.review", "static")])),
        ],
        middleware=[Middleware(Guard, port=port)],
        exception_handlers={InputError: routes.input_error, sqlite3.Error: _not_saved, HTTPException: _plain},
    )


class Routes:
    """One method per route; database access runs in a thread pool."""

    def __init__(self, review: Review, reviewer: str, title: str) -> None:
        self.review = review
        self.store = review.store
        self.reviewer = reviewer
        self.templates = template_environment("focusedcleaner.review")
        self.templates.globals |= {
            "class_mark": badge,
            "at_node": view.at_node,
            "title": title,
            "states": STATES,
            "orders": ORDERS,
            "longest_name": LONGEST_NAME,
            "longest_note": LONGEST_NOTE,
        }

    async def show(self, request: Request) -> Response:
        query = request.query_params
        edge, number, after = (_whole_number(query.get(name)) for name in ("edge", "page", "after"))
        return await self._page(request, View.of(query), edge=edge, number=number, after=after)

    async def export(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        chunks = await _in_thread(export, self.store, kind)
        media = "text/csv" if kind == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="review.{kind}"'}
        return StreamingResponse((chunk.encode() for chunk in chunks), media_type=media, headers=headers)

    async def decide(self, request: Request) -> Response:
        form, asked = request.scope["form"], View.of(request.scope["form"])
        rank = _edge(form)
        following = await _in_thread(view.following, self.store, asked, rank)
        await _in_thread(self.store.decide, rank, _reviewer(form), form.get("verdict", ""), form.get("note"))
        return _redirect(asked, edge=rank if following is None else following, after=rank)

    async def note(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = _edge(form)
        await _in_thread(self.store.write_note, rank, _reviewer(form), form.get("note", ""))
        return _redirect(View.of(form), edge=rank, after=rank)

    async def undo(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = await _in_thread(self.store.undo, _reviewer(form))
        if rank is None:
            raise InputError("there is nothing to undo")
        return _redirect(View.of(form), edge=rank, after=rank)

    async def name_reviewer(self, request: Request) -> Response:
        form = request.scope["form"]
        response = _redirect(View.of(form), **({"edge": _edge(form)} if form.get("edge") else {}))
        name = quote(_reviewer(form), safe="")
        response.set_cookie(COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    async def rerank(self, request: Request) -> Response:
        await _in_thread(self.review.rerank)
        return _redirect(View(sort="reranked"))

    async def restore(self, request: Request) -> Response:
        await _in_thread(ranking.restore_order, self.store)
        return _redirect(View())

    async def input_error(self, request: Request, error: Exception) -> Response:
        """Show the page again, with the error at its top."""
        form = request.scope.get("form", {})
        try:
            asked, edge = View.of(form), _whole_number(form.get("edge"))
            return await self._page(request, asked, edge=edge, alert=str(error))
        except InputError:
            return await self._page(request, View(), alert=str(error))

    async def _page(self, request: Request, asked: View, *, alert: str = "", **chosen: int | None) -> Response:
        reviewer = self._reviewer(request)

        def html() -> str:
            page = self.review.page(asked, reviewer, alert=alert, **chosen)
            return self.templates.get_template("review.html").render(page=page, token=request.scope["token"])

        return HTMLResponse(await _in_thread(html), status_code=400 if alert else 200)

    def _reviewer(self, request: Request) -> str:
        try:
            return checked_reviewer(unquote(request.cookies.get(COOKIE, "")))
        except InputError:
            return self.reviewer


async def _in_thread(function: Callable[..., _T], *arguments: object) -> _T:
    return await run_in_threadpool(function, *arguments)


def _redirect(asked: View, **more: object) -> RedirectResponse:
    return RedirectResponse(f"/?{asked.query(**more)}", status_code=303)


def _reviewer(form: dict[str, str]) -> str:
    """The reviewer named on the page; another tab may have changed the cookie since."""
    return checked_reviewer(form.get("reviewer", ""))


def _edge(form: dict[str, str]) -> int:
    rank = _whole_number(form.get("edge"))
    if rank is None:
        raise InputError("no edge was named")
    return rank


def _whole_number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise InputError(f"{text[:20]!r} is not the number of an edge or of a page")
    return int(text)


async def _not_saved(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"Nothing was saved: {error}\n", status_code=503)


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", status_code=error.status_code)


# Server --------------------------------------------------------------------------------------------------------------


def listen(port: int) -> socket.socket:
    """Return a listening socket that only this machine can reach; port 0 chooses a free port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} can't be used ({error.strerror}): choose another, or 0 for any") from None
    return listener


def serve(
    review: Review, listener: socket.socket, *, reviewer: str, title: str, browser: bool, ready: Callable[[str], None]
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        review: the run under review.
        listener: from `listen`.
        reviewer: the reviewer's name until another one is entered.
        title: the name of the run.
        browser: whether to open a browser.
        ready: called with the address when the server accepts requests.
    """
    port = listener.getsockname()[1]
    address = f"http://{HOST}:{port}/"
    config = uvicorn.Config(
        application(review, port=port, reviewer=reviewer, title=title),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )

    def started() -> None:
        ready(address)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        _Server(config, started).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has shut down gracefully and raises the signal again
        return


class _Server(uvicorn.Server):
    """Calls a function once it accepts requests; from then on Ctrl-C shuts it down gracefully."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()
