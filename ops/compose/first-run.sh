#!/bin/sh
# Writes the domain into .env and random secrets into secrets/, for compose.yaml. Existing values stay.
#   sh ops/compose/first-run.sh team.example.com
set -eu
cd "$(dirname "$0")/../.."

domain=${1:-}
case $domain in
'' | -* | *[!A-Za-z0-9.-]*)
  echo 'usage: sh ops/compose/first-run.sh DOMAIN     (team.example.com, or localhost to try it)' >&2
  exit 2
  ;;
esac

# Only the owner can read .env, which can have more secrets, and enter the folder. Everyone can read the files in the
# folder, because a container reads them as another user.
umask 077
mkdir -p secrets
chmod 700 secrets

# Prints this many random bytes as letters and digits.
random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

# Writes standard input to a file, completely or not at all.
write() {
  if [ -s "$1" ]; then
    echo "Keeping $1, which already exists"
    cat >/dev/null
  else
    cat >"$1.new"
    # A failure at the start of the pipe isn't reported here, but it leaves the file empty.
    if [ ! -s "$1.new" ]; then
      rm "$1.new"
      echo "Could not create $1" >&2
      return 1
    fi
    chmod "$2" "$1.new"
    mv "$1.new" "$1"
    echo "Created $1"
  fi
}

random 24 | write secrets/database-password 444
random 48 | write secrets/jwt-secrets 444
random 48 | write secrets/webhook-keys 444
random 24 | write secrets/admin-keys 444
printf 'postgres://service:%s@database:5432/service' "$(cat secrets/database-password)" | write secrets/database-url 444
if grep -qs '^DOMAIN=' .env; then
  echo 'Keeping the DOMAIN in .env'
else
  [ -e .env ] || echo '# For compose.yaml, and for its services: you can set every variable of the service here.' >.env
  # If the last line has no newline, the name would be appended to it.
  [ -z "$(tail -c 1 .env)" ] || echo >>.env
  echo "DOMAIN=$domain" >>.env
  echo 'Added the DOMAIN to .env'
fi
