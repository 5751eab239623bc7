"""Other schedulers, each behind the same questions: what it needs, how its server, its worker and
its client start, and how many outcomes it has stored.

`adapter.py` asks them, `registry.py` lists who answers. `apps/` has the programs that run in the
peers' own environments: a task that does nothing, one that records when it began, one that takes a
while; and the client that submits them."""
