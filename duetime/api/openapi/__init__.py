"""The OpenAPI document at /v1/openapi.json and the page at /docs.

`route` describes one call as a value; `task_routes`, `dead_letter_routes`, `schedule_routes` and
`system_routes` have one for each route of the API. `field_texts` and `target_texts` explain the
fields of the request bodies, and `bodies` has those that the document shows in another way than the
API reads them. `answers` and `schedule_answers` are models of the answers: only the document and
the tests use them.
`document` makes the document from all of these, `page` renders it as HTML, and `resource` serves
both.

No other request loads these modules. A deployed API reads both texts from files that
`infra/bundle.py` writes; the local runner makes them on the first request.
"""
