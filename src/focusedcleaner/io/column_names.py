"""Names of columns as people write them: which ones hold the ends of an edge, weights, times, ids and classes."""

from __future__ import annotations

import re
from collections.abc import Sequence

SOURCE = ("source", "src", "from", "u")
TARGET = ("target", "dst", "dest", "destination", "to", "v")
_ROLES = (
    *((source, target) for source in SOURCE for target in TARGET),
    ("from_node", "to_node"), ("fromnode", "tonode"), ("head", "tail"), ("parent", "child"), ("subject", "object"),
    ("user", "friend"), ("person", "friend"), ("member", "friend"), ("account", "counterparty"), ("account", "friend"),
    ("follower", "followee"), ("follower", "following"), ("follower", "followed"), ("user", "follower"),
    ("citing", "cited"), ("paper", "reference"), ("sender", "receiver"), ("sender", "recipient"), ("payer", "payee"),
    ("debtor", "creditor"), ("caller", "callee"), ("rater", "ratee"), ("trustor", "trustee"), ("buyer", "seller"),
    ("lender", "borrower"), ("nameorig", "namedest"), ("orig", "dest"), ("originator", "beneficiary"),
)  # fmt: skip
"""Pairs of names for the two ends of an edge between nodes of one kind, without endings such as _id."""

ACTORS = frozenset({
    "user", "reviewer", "customer", "client", "author", "account", "member", "person", "patient", "consumer",
    "visitor", "guest", "reader", "listener", "viewer", "subscriber", "student", "employee", "player", "investor",
    "donor", "voter", "actor", "cardholder", "card",
})  # fmt: skip
OBJECTS = frozenset({
    "item", "product", "merchant", "paper", "movie", "film", "book", "shop", "store", "seller", "business",
    "restaurant", "hotel", "app", "song", "track", "album", "artist", "group", "page", "tag", "topic", "venue",
    "event", "game", "video", "article", "post", "doctor", "provider", "physician", "course", "project", "company",
    "fund", "party", "device", "ip", "phone", "email", "address", "ip_address", "url", "website", "site", "channel",
    "subreddit", "repo", "repository", "asin",
})  # fmt: skip
"""An actor and an object are two kinds of nodes: the table is bipartite."""
WEIGHTS = (
    "weight",
    "rating",
    "amount",
    "stars",
    "score",
    "value",
    "overall",
    "strength",
    "count",
    "votes",
    "vote",
    "w",
)
TIMES = (
    "time", "timestamp", "date", "datetime", "created_at", "created", "ts", "unix_time", "unixtime", "unixreviewtime",
    "review_time", "reviewtime", "review_date", "transaction_date", "transaction_time", "since", "year", "step",
)  # fmt: skip
IDS = (
    "id", "node", "nodeid", "vertex", "account", "user", "customer", "client", "member", "person", "author", "paper",
    "name", "key", "uid",
)  # fmt: skip
LABELS = (
    "label", "labels", "class", "y", "category", "is_fraud", "isfraud", "fraud", "fraudulent", "is_spam", "isspam",
    "spam", "spammer", "is_bot", "bot", "is_illicit", "illicit", "is_suspicious", "is_fake", "fake",
)  # fmt: skip

_NUMBERED = re.compile(r"(.*?)_?([12ab])")


def plain_name(name: str) -> str:
    """A column's name for comparisons: lower case, words joined by underscores.

    >>> plain_name(" User-ID "), plain_name("Created At")
    ('user_id', 'created_at')
    """
    return re.sub(r"[\s.\-/]+", "_", name.strip().lower()).strip("_")


def stem(name: str) -> str:
    """A column's plain name without an ending that says that it holds ids.

    >>> stem("User ID"), stem("nodeId"), stem("id")
    ('user', 'node', 'id')
    """
    plain = plain_name(name)
    for ending in ("_id", "_ids", "_no", "_number", "_name", "_key", "_code", "id"):
        if plain.endswith(ending) and len(plain) > len(ending) + 1 and plain not in ("paid", "valid"):
            return plain.removesuffix(ending)
    return plain


def ends_by_name(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of source and target by their names, if these are known and leave no choice."""
    plain = [plain_name(name) for name in names]
    stems = [stem(name) for name in names]
    for forms in (plain, stems):
        for source, target in _ROLES:
            if forms.count(source) == forms.count(target) == 1:
                return forms.index(source), forms.index(target)
        if any(name in forms for name in SOURCE) and any(name in forms for name in TARGET):
            one = min(forms.index(name) for name in SOURCE if name in forms)
            other = min(forms.index(name) for name in TARGET if name in forms)
            return one, other
    actors = [number for number, name in enumerate(stems) if name in ACTORS]
    objects = [number for number, name in enumerate(stems) if name in OBJECTS]
    if len(actors) == len(objects) == 1:
        return actors[0], objects[0]
    return _by_suffix(plain)


def _by_suffix(plain: Sequence[str]) -> tuple[int, int] | None:
    """Two columns of one name that end in 1 and 2 or a and b, or begin or end with from and to."""
    pairs = []
    for number, name in enumerate(plain):
        for other, partner in enumerate(plain):
            one, two = _NUMBERED.fullmatch(name), _NUMBERED.fullmatch(partner)
            numbered = one and two and one[1] == two[1] and one[1] and one[2] + two[2] in ("12", "ab")
            for source, target in zip(
                ("from", "source", "src", "sender"), ("to", "target", "dst", "receiver"), strict=True
            ):
                prefixed = name.startswith(f"{source}_") and partner == f"{target}_{name.removeprefix(f'{source}_')}"
                suffixed = name.endswith(f"_{source}") and partner == f"{name.removesuffix(f'_{source}')}_{target}"
                numbered = numbered or prefixed or suffixed
            if numbered:
                pairs.append((number, other))
    return pairs[0] if len(pairs) == 1 else None


def two_kinds(source: str, target: str) -> bool:
    """Whether two columns name two kinds of things, such as users and items.

    >>> two_kinds("user_id", "Item ID"), two_kinds("user_id", "friend_id")
    (True, False)
    """
    one, other = stem(source), stem(target)
    return (one in ACTORS and other in OBJECTS) or (one in OBJECTS and other in ACTORS)
