#!/bin/sh
# Clients of Agent Plugins start a server in the plugin's own directory and do not say where the project is. Where the client
# itself runs (its working directory, by /proc or lsof) is where its person started it.
dir=$(readlink "/proc/$PPID/cwd" 2>/dev/null || lsof -a -d cwd -p "$PPID" -Fn 2>/dev/null | sed -n 's/^n//p')
[ -n "$dir" ] && cd "$dir" 2>/dev/null
exec tidemark mcp
