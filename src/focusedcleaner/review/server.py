"""The review page as a web server on this machine: routes, and a socket that only this machine can reach."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from urllib.parse import quote, unquote

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from focusedcleaner.errors import InputError
from focusedcleaner.report.rendering import template_environment
from focusedcleaner.review import ranking, view
from focusedcleaner.review.browser import open_privately
from focusedcleaner.review.export import export
from focusedcleaner.review.guard import SECRET, Guard
from focusedcleaner.review.page import Review
from focusedcleaner.review.store import LONGEST_NAME, LONGEST_NOTE, StoreError, checked_reviewer
from focusedcleaner.review.view import ORDERS, STATES, View

HOST = "127.0.0.1"
COOKIE = "focusedcleaner-reviewer"
_YEAR = 365 * 24 * 3600


def application(review: Review, *, port: int, secret: str, reviewer: str, title: str) -> Starlette:
    """Return the page as an ASGI application.

    Args:
        review: the run under review.
        port: the server's port; requests for another host or port are refused.
        secret: what the first request must bring along, in the address.
        reviewer: the reviewer's name until another one is entered.
        title: the name of the run.
    """
    routes = Routes(review, reviewer, title)
    changes = (routes.decide, routes.note, routes.undo, routes.reviewer, routes.rerank, routes.restore)
    return Starlette(
        routes=[
            Route("/", routes.show),
            *(Route(f"/{change.__name__}", change, methods=["POST"]) for change in changes),
            Route("/export.{kind:str}", routes.export),
            Mount("/static", StaticFiles(packages=[("focusedcleaner.review", "static")])),
        ],
        middleware=[Middleware(Guard, port=port, secret=secret)],
        exception_handlers={InputError: routes.input_error, StoreError: _not_saved},
    )


@dataclass(frozen=True)
class Routes:
    """One method per route. They are not coroutines, so Starlette runs them in a thread pool."""

    review: Review
    default_reviewer: str
    title: str

    def show(self, request: Request) -> Response:
        query = request.query_params
        edge, number, after = (_whole_number(query.get(name)) for name in ("edge", "page", "after"))
        return self._page(request, View.of(query), edge=edge, number=number, after=after)

    def export(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        return StreamingResponse(
            export(self.review.store, kind),
            media_type="text/csv" if kind == "csv" else "application/json",
            headers={"Content-Disposition": f'attachment; filename="review.{kind}"'},
        )

    def decide(self, request: Request) -> Response:
        form = request.scope["form"]
        asked, rank = View.of(form), _edge(form)
        following = view.following(self.review.store, asked, rank)
        self.review.store.decide(rank, _reviewer(form), form.get("verdict", ""), form.get("note"))
        return _redirect(asked, edge=rank if following is None else following, after=rank)

    def note(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = _edge(form)
        self.review.store.decide(rank, _reviewer(form), None, form.get("note", ""))
        return _redirect(View.of(form), edge=rank, after=rank)

    def undo(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = self.review.store.undo(_reviewer(form))
        if rank is None:
            raise InputError("there is nothing to undo")
        return _redirect(View.of(form), edge=rank, after=rank)

    def reviewer(self, request: Request) -> Response:
        form = request.scope["form"]
        response = _redirect(View.of(form), **({"edge": _edge(form)} if form.get("edge") else {}))
        name = quote(_reviewer(form), safe="")
        response.set_cookie(COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    def rerank(self, request: Request) -> Response:
        ranking.rerank(self.review.store, self.review.edges.run)
        return _redirect(View(sort="reranked"))

    def restore(self, request: Request) -> Response:
        ranking.restore_order(self.review.store)
        return _redirect(View())

    def input_error(self, request: Request, error: Exception) -> Response:
        """Show the page again, with the error at its top."""
        form = request.scope.get("form", {})
        try:
            return self._page(request, View.of(form), edge=_whole_number(form.get("edge")), alert=str(error))
        except InputError:
            return self._page(request, View(), alert=str(error))

    def _page(self, request: Request, asked: View, *, alert: str = "", **chosen: int | None) -> Response:
        try:
            reviewer = checked_reviewer(unquote(request.cookies.get(COOKIE, "")))
        except InputError:
            reviewer = self.default_reviewer
        template = template_environment("focusedcleaner.review").get_template("review.html")
        html = template.render(
            page=self.review.page(asked, reviewer, alert=alert, **chosen),
            token=request.scope["token"],
            title=self.title,
            states=STATES,
            orders=ORDERS,
            at_node=view.at_node,
            longest_name=LONGEST_NAME,
            longest_note=LONGEST_NOTE,
        )
        return HTMLResponse(html, status_code=400 if alert else 200)


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


def _not_saved(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"Nothing was saved. {error}\n", status_code=503)


def listen(port: int) -> socket.socket:
    """Return a listening socket that only this machine can reach; port 0 chooses a free port."""
    # asyncio turns Nagle's delay off (TCP_NODELAY) only where the protocol is named; with it, each answer on an open
    # connection waits 40 ms for the browser's acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    """Serve the page of `application` until Ctrl-C.

    ``browser`` says whether to open one; ``ready`` is called with the address, which holds the secret, when the server
    accepts requests.
    """
    port, secret = listener.getsockname()[1], secrets.token_urlsafe(32)
    address = f"http://{HOST}:{port}/?{SECRET}={secret}"
    config = uvicorn.Config(
        application(review, port=port, secret=secret, reviewer=reviewer, title=title),
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
            stack.enter_context(open_privately(address))

    with ExitStack() as stack, suppress(KeyboardInterrupt):  # uvicorn raises it again after a graceful shutdown
        _Server(config, started).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Calls a function once it accepts requests; from then on Ctrl-C shuts it down gracefully."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()
