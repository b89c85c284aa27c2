"""The routes of the review page."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from focusedcleaner.errors import InputError
from focusedcleaner.review import rerank, view
from focusedcleaner.review.export import exported
from focusedcleaner.review.guard import Guard
from focusedcleaner.review.page import Page, Review
from focusedcleaner.review.store import LONGEST_NAME, LONGEST_NOTE, checked_reviewer
from focusedcleaner.review.view import ORDERS, STATES, View

COOKIE = "focusedcleaner-reviewer"
_YEAR = 365 * 24 * 3600
_T = TypeVar("_T")


def application(review: Review, *, port: int, reviewer: str, title: str) -> Starlette:
    """The page as an ASGI application.

    Args:
        review: the run under review.
        port: where it will be served; requests for another host or port are refused.
        reviewer: who reviews where nobody has said a name.
        title: what the run is called.
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
        exception_handlers={InputError: routes.mistaken, sqlite3.Error: _not_saved, HTTPException: _plain},
    )


class Routes:
    """One method a route. What touches the disk runs in a thread of its own."""

    def __init__(self, review: Review, reviewer: str, title: str) -> None:
        self.review = review
        self.reviewer = reviewer
        self.title = title
        self.templates = Environment(
            loader=PackageLoader("focusedcleaner.review"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    # Looking ---------------------------------------------------------------------------------------------------------

    async def show(self, request: Request) -> Response:
        given = request.query_params
        edge, number, after = (_whole(given.get(name)) for name in ("edge", "page", "after"))
        return await self._page(request, View.of(given), edge=edge, number=number, after=after)

    async def export(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        pieces = await _aside(exported, self.review.store, kind)
        media = "text/csv" if kind == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="review.{kind}"'}
        return StreamingResponse((piece.encode() for piece in pieces), media_type=media, headers=headers)

    # Changing --------------------------------------------------------------------------------------------------------

    async def decide(self, request: Request) -> Response:
        form, asked = request.scope["form"], View.of(request.scope["form"])
        rank = _edge(form)
        further = await _aside(view.following, self.review.store, asked, rank)
        verdict, note = form.get("verdict", ""), form.get("note")
        await _aside(self.review.store.decide, rank, _reviewer(form), verdict, note)
        return _go(asked, edge=rank if further is None else further, after=rank)

    async def note(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = _edge(form)
        await _aside(self.review.store.write_note, rank, _reviewer(form), form.get("note", ""))
        return _go(View.of(form), edge=rank, after=rank)

    async def undo(self, request: Request) -> Response:
        form = request.scope["form"]
        rank = await _aside(self.review.store.undo, _reviewer(form))
        if rank is None:
            raise InputError("there is nothing to undo")
        return _go(View.of(form), edge=rank, after=rank)

    async def name_reviewer(self, request: Request) -> Response:
        form = request.scope["form"]
        response = _go(View.of(form), **({"edge": _edge(form)} if form.get("edge") else {}))
        name = quote(_reviewer(form), safe="")
        response.set_cookie(COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    async def rerank(self, request: Request) -> Response:
        await _aside(self.review.rerank)
        return _go(View(sort="reranked"))

    async def restore(self, request: Request) -> Response:
        await _aside(rerank.restore, self.review.store)
        return _go(View())

    # Answering -------------------------------------------------------------------------------------------------------

    async def mistaken(self, request: Request, error: Exception) -> Response:
        """The page again, with what is wrong at its top."""
        form = request.scope.get("form", {})
        try:
            asked, edge = View.of(form), _whole(form.get("edge"))
            return await self._page(request, asked, edge=edge, alert=str(error))
        except InputError:
            return await self._page(request, View(), alert=str(error))

    async def _page(
        self,
        request: Request,
        asked: View,
        *,
        edge: int | None = None,
        number: int | None = None,
        after: int | None = None,
        alert: str = "",
    ) -> Response:
        who = self._who(request)

        def made() -> str:
            page = self.review.page(asked, who, edge=edge, number=number, after=after, alert=alert)
            return self._html(page, request.scope["token"])

        return HTMLResponse(await run_in_threadpool(made), status_code=400 if alert else 200)

    def _html(self, page: Page, token: str) -> str:
        return self.templates.get_template("review.html").render(
            page=page,
            token=token,
            title=self.title,
            states=STATES,
            orders=ORDERS,
            longest_name=LONGEST_NAME,
            longest_note=LONGEST_NOTE,
        )

    def _who(self, request: Request) -> str:
        try:
            return checked_reviewer(unquote(request.cookies.get(COOKIE, "")))
        except InputError:
            return self.reviewer


async def _aside(function: Callable[..., _T], *arguments: object) -> _T:
    return await run_in_threadpool(function, *arguments)


def _go(asked: View, **more: object) -> RedirectResponse:
    return RedirectResponse(f"/?{asked.query(**more)}", status_code=303)


def _reviewer(form: dict[str, str]) -> str:
    """Who judges, as the page said it: another tab may have changed the cookie since."""
    return checked_reviewer(form.get("reviewer", ""))


def _edge(form: dict[str, str]) -> int:
    rank = _whole(form.get("edge"))
    if rank is None:
        raise InputError("no edge was named")
    return rank


def _whole(text: str | None) -> int | None:
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
