"""Live updates: pushes of status changes over a WebSocket, as far as they are rules.

A push is a best-effort hint; the table is the truth. A client says `hello`, subscribes, and reads
once what it shows when it gets `subscribed` or `reset`. It applies a later change only if that is
not older than what it shows, by (`updated_at`, `attempt`); the answer to a read always replaces. So
pushes may be lost, repeated or late: the client is right again after its next read.

`messages` reads what clients send, `frames` renders what the server sends. `filters` decides which
changes a subscription wants, `changes` puts them into frames. `limits` and `tickets` say who may
connect. The local runner and AWS share all of it.
"""
