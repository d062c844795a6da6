#!/usr/bin/env python3
"""Where programs look for the stream formatter; the formatter itself is a sub-command."""
import os

os.execvp("loopgate", ["loopgate", "stream", "format"])
