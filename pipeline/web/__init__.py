"""The HTTP contract, independent of any web framework.

``site.Site.handle`` turns a ``Request`` into a ``Response``; ``routes.ROUTES`` is the table of addresses.
``server_fastapi`` and ``server_flask`` translate to and from it, so that what the two frameworks and
their servers do differently is settled here, once, and held by the tests of ``tests/contract/http``:

================================  ================================  ==================================
by default                        FastAPI, uvicorn                  Flask, waitress
================================  ================================  ==================================
``/ask/`` for ``/ask``            redirect 307                      404, or redirect 308
body without JSON content type    422                               415 as HTML
body with a mark, or not UTF-8    400 in words of its own           400 as HTML
``HEAD``                          405                               as ``GET``
``OPTIONS``                       405                               200 with an empty HTML page
unknown address, wrong method     JSON of another shape             HTML
a doubled slash                   404                               redirect 308
letters outside ASCII in JSON     as they are                       escaped
NaN in JSON                       500                               written as NaN
body over the limit               no limit                          the server's own text 413
an uncaught error                 text 500                          HTML 500
what is no HTTP                   text 400                          text 400
a client that leaves              noticed if asked                  not noticed
a stream whose client has left    dropped, not told                 closed at its next word
idle connections                  5 s                               120 s
start and end of the application  lifespan                          none
the server's name in answers      ``uvicorn``                       ``waitress``
================================  ================================  ==================================
"""
