"""The scanner: claims what wakes within the horizon, and repairs what is stuck."""
