"""Serves moto with TLS: moto-tls.py CERTIFICATE KEY.

AWS reads the parameters of a POST from its address as well; moto looks for an unsigned action in the body alone, so they
are moved there.
"""

import io, sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

moto = DomainDispatcherApplication(create_backend_app)


def serve(environ, start):
    query = environ.get("QUERY_STRING", "")
    if environ["REQUEST_METHOD"] == "POST" and query.startswith("Action="):
        environ |= {
            "QUERY_STRING": "", "CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": str(len(query)),
            "wsgi.input": io.BytesIO(query.encode()),
        }
    return moto(environ, start)


run_simple("127.0.0.1", 0, serve, threaded=True, ssl_context=tuple(sys.argv[1:]), request_handler=MotoRequestHandler)
