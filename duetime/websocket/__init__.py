"""websocket: the owner of open connections on AWS, and what pushes changes to them.

API Gateway holds the connections and invokes the function for each frame; the relay invokes it for
changes. It keeps nothing in memory: every connection is a row (duetime.core.live.connections).
"""
