#!/bin/sh
# Where programs look for the loop driver; the driver itself is a sub-command.
exec loopgate loop run "$@"
