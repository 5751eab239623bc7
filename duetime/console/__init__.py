"""The web console: its built files, their headers, and the proxy that serves it for a deployed API.

Its source is in `console/`; `make console` builds the files in `static/`.
"""
