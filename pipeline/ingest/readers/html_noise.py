"""What of a page is not its content: never shown, or there to move about the site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["ALWAYS_DROPPED", "BLOCK_TAGS", "is_hidden", "is_noise"]

_ALWAYS_DROPPED_WORDS = """
script style noscript template head title svg canvas iframe frame frameset noframes object embed applet
audio video map area input select textarea datalist progress meter dialog rp rt
"""
ALWAYS_DROPPED = frozenset(_ALWAYS_DROPPED_WORDS.split())
_BLOCK_TAGS_WORDS = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption
figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol option p pre search
section summary table tbody td tfoot th thead tr ul
"""
BLOCK_TAGS = frozenset(_BLOCK_TAGS_WORDS.split())
_NOISE_TAGS = frozenset(("nav", "footer", "button", "search"))
_NOISE_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "complementary", "alert")
)
_NOTE = re.compile(r"\b(?:note|notice|warning|caution|tip|info|important|admonition|callout|hint)", re.I)
# Words of class and id that name noise. The first set is noise for sure, the second if it is mostly links.
_SURE_WORDS = """
headerlink heading-anchor anchor-link skip-link skip-to-content skiplink breadcrumb breadcrumbs cookie
cookies cookie-banner cookie-consent mw-editsection mw-jump-link edit-link noprint pagination pager
visually-hidden screen-reader-text advert advertisement adsbygoogle printfooter
"""
_SURE = frozenset(_SURE_WORDS.split())
_IF_LINKS_WORDS = """
nav navbar navigation menu sidebar toc table-of-contents tableofcontents footer header topbar share
social related tags languages
"""
_IF_LINKS = frozenset(_IF_LINKS_WORDS.split())
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def is_hidden(node: LexborNode) -> bool:
    """True for what a browser does not show; a folded ``details`` is shown at a click and counts as shown."""
    attributes = node.attributes
    if not attributes:
        return False
    hidden = attributes.get("hidden", "no")
    return (
        hidden not in ("no", "until-found")
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDING_STYLE.search(attributes.get("style") or ""))
    )


def is_noise(node: LexborNode, tag: str) -> bool:
    """True for menus, banners, footers, asides that are no notes, and the like."""
    if tag in _NOISE_TAGS:
        return True
    attributes = node.attributes
    role = (attributes.get("role") or "").lower()
    words = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
    if tag == "aside":
        return not (role == "note" or any(map(_NOTE.match, words)))
    if role in _NOISE_ROLES or not _SURE.isdisjoint(words):
        return True
    if tag == "header":
        return node.css_first("h1, h2") is None and not _is_inside_content(node)
    return tag != "body" and not _IF_LINKS.isdisjoint(words) and _is_mostly_links(node)


def _is_inside_content(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in ("main", "article"):
        parent = parent.parent
    return parent is not None


def _is_mostly_links(node: LexborNode) -> bool:
    text = sum(map(len, node.text().split()))
    links = sum(len(word) for link in node.css("a") for word in link.text().split())
    return 2 * links >= text
