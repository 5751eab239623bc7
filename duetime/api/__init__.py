"""The API: takes tasks in, and tells where they stand."""
