"""The limits of live updates. They are for operators and waiting clients, not a public fan-out."""

from duetime.core.times import HOUR, SECOND, Millis

VERSION = 1  # of the protocol
CONNECTIONS = 200
SUBSCRIPTIONS = 20  # of one connection
ALL_SUBSCRIPTIONS = 2_000
FILTER_VALUES = 50  # of one field of a filter

# API Gateway refuses frames of more than 32 KB.
FRAME_BYTES = 30_000
FRAME_ITEMS = 100

PING_EVERY = 240  # seconds: API Gateway closes a connection after 10 idle minutes
LIFETIME: Millis = 2 * HOUR  # of a connection, as at API Gateway
TICKET_LIFE: Millis = 30 * SECOND
