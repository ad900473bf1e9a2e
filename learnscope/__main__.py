"""`python -m learnscope` is the command `learnscope`."""

from learnscope.cli import main

main()
