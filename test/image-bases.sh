#!/usr/bin/env bash
# Makes the two bases of the image from Debian's packages and the Node.js that the Dockerfile names, where no registry of images
# can be reached: localhost/test-base-node, and localhost/test-base-runtime, which has no shell. Needs root, buildah and debootstrap.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$work/build
runtime=$work/runtime

debootstrap --variant=minbase --include=ca-certificates bookworm "$build" "${DEBIAN:-http://deb.debian.org/debian}" >"$work/log" ||
  { tail -n 5 "$work/log" >&2 && exit 1; }
npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
mkdir -p "$build/usr/local/bin" "$build/usr/local/lib/node_modules"
# This machine's own could need other libraries.
line=$(sed -n 's/^ARG NODE=.*node:\([0-9]*\)-.*/\1/p' "$(dirname "$0")/../Dockerfile")
npm install --loglevel error --prefix "$work/node" "node-linux-$(node -p process.arch)@${line:?the Dockerfile names no Node}"
cp "$work"/node/node_modules/node-linux-*/bin/node "$build/usr/local/bin/node"
cp -r "$npm" "$build/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$build/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$build/usr/local/bin/npx"
# The build trusts whom this machine trusts, such as the proxy of a company.
cp "${NODE_EXTRA_CA_CERTS:-$build/etc/ssl/certs/ca-certificates.crt}" "$build/etc/more-authorities.crt"

mkdir -p "$runtime/etc/ssl/certs"
for package in libc6 libgcc-s1 libstdc++6; do
  dpkg -x "$build"/var/cache/apt/archives/"$package"_*.deb "$runtime"
done
cp "$build/etc/ssl/certs/ca-certificates.crt" "$runtime/etc/ssl/certs/"
mkdir -p --mode=1777 "$runtime/tmp"
rm -rf "$build"/var/cache/apt/archives/*.deb "$runtime/usr/share"

for base in node runtime; do
  folder=$([ $base = node ] && echo "$build" || echo "$runtime")
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$folder" / >/dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  [ $base = runtime ] || buildah config --env NODE_EXTRA_CA_CERTS=/etc/more-authorities.crt "$container"
  buildah commit --quiet --rm "$container" "localhost/test-base-$base" >/dev/null
done
