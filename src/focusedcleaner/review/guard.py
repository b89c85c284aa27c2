"""Request checks: only this machine's browser, and changes only from the page itself."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_FORM = 64 * 1024

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer", browsers would send "null" as the origin of the page's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """A refused request, with the HTTP status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """ASGI middleware that refuses foreign requests.

    The host of a request must be this server, which prevents DNS rebinding. A request that changes something must come
    from this server's page (Origin or Referer) and carry the page's token. The form is parsed here and passed on as
    ``scope["form"]``, so that no route can skip the checks.

    Args:
        app: the page.
        port: where the server listens.
    """

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}
        self.token = secrets.token_urlsafe(32)
        """New for each server: after a restart, the page must be reloaded."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _hardened(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_host(Headers(scope=scope))
            if scope["method"] in ("GET", "HEAD"):
                form = {}
            elif scope["method"] == "POST":
                self._check_origin(Headers(scope=scope))
                form = await _form(Headers(scope=scope), receive)
                self._check_token(form)
            else:
                raise Refused(405, "only GET, HEAD and POST are allowed")
        except Refused as refused:
            await PlainTextResponse(f"{refused}\n", refused.status)(scope, receive, send)
            return
        await self.app({**scope, "form": form, "token": self.token}, receive, send)

    def _check_host(self, headers: Headers) -> None:
        if headers.getlist("host") == [] or any(host.lower() not in self.hosts for host in headers.getlist("host")):
            raise Refused(421, f"this server answers to {' and '.join(sorted(self.hosts))} only")

    def _check_origin(self, headers: Headers) -> None:
        source = headers.get("origin") or headers.get("referer") or ""
        try:
            parts = urlsplit(source)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme != "http" or parts.netloc.lower() not in self.hosts:
            raise Refused(403, "changes are accepted only from this server's own page")

    def _check_token(self, form: dict[str, str]) -> None:
        if not secrets.compare_digest(form.get("token", "").encode(), self.token.encode()):
            raise Refused(403, "this page is older than the server: load it again; nothing was changed")


def _hardened(send: Send) -> Send:
    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return hardened


async def _form(headers: Headers, receive: Receive) -> dict[str, str]:
    """Read the fields of a form; of a repeated field, the last one counts."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Refused(415, "a form is expected")
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the request was cut off")
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
        if sum(map(len, parts)) > LARGEST_FORM:
            raise Refused(413, "the form is too large")
    try:
        body = b"".join(parts).decode("ascii")
        return dict(parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=100))
    except ValueError:
        raise Refused(400, "the form can't be read") from None
