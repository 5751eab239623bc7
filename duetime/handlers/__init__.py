"""What handler authors import: the `task` decorator and the `Context` of an attempt."""
