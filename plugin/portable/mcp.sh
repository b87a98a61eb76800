#!/bin/sh
# Clients of Agent Plugins start a server in the plugin's own directory and do not say where the project is. Where the client
# itself runs (its working directory, by /proc or lsof) is where its person started it.
dir=$(readlink "/proc/$PPID/cwd" 2>/dev/null || lsof -a -d cwd -p "$PPID" -Fn 2>/dev/null | sed -n 's/^n//p')
[ -n "$dir" ] && cd "$dir" 2>/dev/null
command -v tidemark >/dev/null 2>&1 && exec tidemark mcp; set -f; IFS=,{}; while read -r tm_line; do tm_id= tm_says='"error":{"code":-32601,"message":"Tidemark is not installed: npm install -g tidemark"}'; for tm_part in $tm_line; do case $tm_part in *'"id":'*) tm_id=$tm_part;; *'"protocolVersion":'*) tm_says='"result":{'$tm_part',"capabilities":{"prompts":{}},"serverInfo":{"name":"tidemark","version":"0"},"instructions":"Tidemark, the memory of this project, is not installed on this machine: npm install -g tidemark"}';; *'"tools/list"'*) tm_says='"result":{"tools":[]}';; *'"prompts/list"'*) tm_says='"result":{"prompts":[{"name":"install","description":"npm install -g tidemark"}]}';; esac; done; if [ "$tm_id" ]; then printf '{"jsonrpc":"2.0",%s,%s}\n' "$tm_id" "$tm_says"; fi; done
