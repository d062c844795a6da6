#!/bin/sh
# Where the gateway looks for the program that processes pending learnings; the program itself is a
# sub-command.
exec loopgate learnings process "$@"
