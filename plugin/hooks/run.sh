#!/bin/sh
# run.sh CLIENT EVENT: passes a hook on to tidemark. Where tidemark is not installed, or the project has these hooks of its
# own (`tidemark init`), it does nothing and succeeds: a plugin must not disturb, and nothing is to be told twice.
command -v tidemark >/dev/null 2>&1 || exit 0
case $1 in
  claude) files='.claude/settings.json .claude/settings.local.json' ;;
  codex) files='.codex/hooks.json' ;;
  *) files='.gemini/settings.json' ;;
esac
dir=$PWD
while [ -n "$dir" ]; do
  for file in $files; do
    [ -f "$dir/$file" ] && grep -q "tidemark.* hook $1 $2" "$dir/$file" && exit 0
  done
  dir=${dir%/*}
done
exec tidemark hook "$1" "$2"
