#!/bin/sh
# PostgreSQL's archive_command: archive-wal.sh %p FOLDER/%f. Archives each WAL file compressed, completely or not at
# all.
set -eu
if [ -e "$2.gz" ]; then
  # After a crash, PostgreSQL archives the file again. It must not overwrite another server's file.
  gunzip -c "$2.gz" | cmp -s - "$1"
  exit
fi
gzip -c "$1" >"$2.part"
sync "$2.part"
mv "$2.part" "$2.gz"
sync "$(dirname "$2")"
