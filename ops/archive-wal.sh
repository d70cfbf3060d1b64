#!/bin/sh
# PostgreSQL's archive_command: archive-wal.sh %p FOLDER/%f. Keeps each file of the WAL compressed, and never a part of one.
set -eu
if [ -e "$2.gz" ]; then
  # PostgreSQL asks again after a crash. It must not overwrite what another server has archived.
  gunzip -c "$2.gz" | cmp -s - "$1"
  exit
fi
gzip -c "$1" >"$2.part"
sync "$2.part"
mv "$2.part" "$2.gz"
sync "$(dirname "$2")"
