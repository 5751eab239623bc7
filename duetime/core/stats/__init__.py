"""Statistics: what was counted of status changes, by minute and lane, and what is made of it."""
