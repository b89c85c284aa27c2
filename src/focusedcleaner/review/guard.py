"""Request checks: only who holds the secret, only by this server's own name, and changes only from the page itself."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_FORM = 64 * 1024
SECRET = "token"
"""The name of the secret in the address."""
CLOSED = (
    "open the address that `focusedcleaner review` printed in its terminal: it holds the secret that this page needs"
)
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer", browsers would send "null" as the origin of the page's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """ASGI middleware that refuses foreign requests and adds `HEADERS` to every answer.

    The host of a request must be this server, which prevents DNS rebinding. Whoever opens the address with the secret
    gets a cookie and is sent on to the address without it; every other request needs the cookie. A request that changes
    something must also come from this server's page (Origin or Referer) and carry the page's token. The form is parsed
    here and passed on as ``scope["form"]``, so that no route can skip the checks.

    Args:
        app: the application behind the guard.
        port: where the server listens.
        secret: what only the reviewers know.
    """

    def __init__(self, app: ASGIApp, *, port: int, secret: str) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}
        self.secret = secret
        self.cookie = f"focusedcleaner-secret-{port}"
        """Named with the port: browsers send a cookie to every port of a host, and reviews must not collide."""
        self.token = secrets.token_urlsafe(32)
        """New for each server: after a restart, the page must be reloaded."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        request = Request(scope, receive)
        try:
            self._check_host(request)
            if request.method in ("GET", "HEAD") and SECRET in request.query_params:
                await self._admit(request)(scope, receive, send_hardened)
                return
            self._check_cookie(request)
            form = await self._checked_form(request)
        except HTTPException as refused:
            await PlainTextResponse(f"{refused.detail}\n", refused.status_code)(scope, receive, send_hardened)
        else:
            await self.app({**scope, "form": form, "token": self.token}, receive, send_hardened)

    def _check_host(self, request: Request) -> None:
        hosts = request.headers.getlist("host")
        if not hosts or any(host.lower() not in self.hosts for host in hosts):
            raise HTTPException(421, f"this server answers to {' and '.join(sorted(self.hosts))} only")

    def _admit(self, request: Request) -> Response:
        """Give the cookie for the secret, and leave no secret in the browser's address."""
        if not _same(request.query_params[SECRET], self.secret):
            raise HTTPException(403, CLOSED)
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != SECRET]
        response = RedirectResponse(f"/?{urlencode(rest)}" if rest else "/", status_code=303)
        # "strict" would withhold the cookie after this redirect if a link in another page or file led here.
        response.set_cookie(self.cookie, self.secret, httponly=True, samesite="lax")
        return response

    def _check_cookie(self, request: Request) -> None:
        if not _same(request.cookies.get(self.cookie, ""), self.secret):
            raise HTTPException(403, CLOSED)

    async def _checked_form(self, request: Request) -> dict[str, str]:
        """Return the fields of a request's form, empty for a request that changes nothing, or refuse the request."""
        if request.method in ("GET", "HEAD"):
            return {}
        if request.method != "POST":
            raise HTTPException(405, "only GET, HEAD and POST are allowed")
        if not self._is_own_page(request.headers):
            raise HTTPException(403, "changes are accepted only from this server's own page")
        form = await _form(request)
        if not _same(form.get("token", ""), self.token):
            raise HTTPException(403, "this page is older than the server: load it again; nothing was changed")
        return form

    def _is_own_page(self, headers: Headers) -> bool:
        try:
            source = urlsplit(headers.get("origin") or headers.get("referer") or "")
        except ValueError:
            return False
        return source.scheme == "http" and source.netloc.lower() in self.hosts


def _same(given: str, expected: str) -> bool:
    """Compare in a time that says nothing about where the two differ."""
    return secrets.compare_digest(given.encode(), expected.encode())


async def _form(request: Request) -> dict[str, str]:
    """Read the fields of a form; of a repeated field, the last one counts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is expected")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_FORM:
                raise HTTPException(413, "the form is too large")
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))
    except ClientDisconnect:
        raise HTTPException(400, "the request was cut off") from None
    except ValueError:
        raise HTTPException(400, "the form can't be read") from None
