"""Request checks: only this machine's browser, and changes only from the page itself."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_FORM = 64 * 1024
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

    The host of a request must be this server, which prevents DNS rebinding. A request that changes something must come
    from this server's page (Origin or Referer) and carry the page's token. The form is parsed here and passed on as
    ``scope["form"]``, so that no route can skip the checks. ``port`` is where the server listens.
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
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            form = await self._checked_form(Request(scope, receive))
        except HTTPException as refused:
            await PlainTextResponse(f"{refused.detail}\n", refused.status_code)(scope, receive, send_hardened)
        else:
            await self.app({**scope, "form": form, "token": self.token}, receive, send_hardened)

    async def _checked_form(self, request: Request) -> dict[str, str]:
        """Return the fields of a request's form, empty for a request that changes nothing, or refuse the request."""
        hosts = request.headers.getlist("host")
        if not hosts or any(host.lower() not in self.hosts for host in hosts):
            raise HTTPException(421, f"this server answers to {' and '.join(sorted(self.hosts))} only")
        if request.method in ("GET", "HEAD"):
            return {}
        if request.method != "POST":
            raise HTTPException(405, "only GET, HEAD and POST are allowed")
        if not self._is_own_page(request.headers):
            raise HTTPException(403, "changes are accepted only from this server's own page")
        form = await _form(request)
        if not secrets.compare_digest(form.get("token", "").encode(), self.token.encode()):
            raise HTTPException(403, "this page is older than the server: load it again; nothing was changed")
        return form

    def _is_own_page(self, headers: Headers) -> bool:
        try:
            source = urlsplit(headers.get("origin") or headers.get("referer") or "")
        except ValueError:
            return False
        return source.scheme == "http" and source.netloc.lower() in self.hosts


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
