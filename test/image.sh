#!/usr/bin/env bash
# Builds the image and uses it as compose.yaml does: as a user without rights, on a file system that
# cannot be written; then two of it behind Caddy, one of which is replaced while people are at work.
#   npm run build && DATABASE_URL=postgres://…@127.0.0.1:5432/empty test/image.sh
# Needs buildah, podman and caddy, and says so where they are missing. Where the registry of the bases cannot be reached, it
# makes bases from Debian's packages, for which it needs debootstrap and root. BUILD_OPTIONS (other bases: --build-arg NODE=…),
# PODMAN and RUN_OPTIONS are for machines that need more words.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in buildah podman caddy curl node; do
  if ! command -v "$program" >/dev/null; then
    echo "SKIPPED: the image is not tested, because there is no $program"
    exit 0
  fi
done
: "${DATABASE_URL:?name an empty database, as containers in the network of this machine reach it}"
read -ra podman <<<"${PODMAN:-podman}"
read -ra build_options <<<"${BUILD_OPTIONS:-}"
read -ra run_options <<<"${RUN_OPTIONS:-}"
image=localhost/team-settings-cloud:test
ports=(34561 34562)
front=34560
work=$(mktemp -d)
started=()

clean() {
  touch "$work/over"
  for name in one two; do "${podman[@]}" rm --force --time 1 "test-$name" >/dev/null 2>&1 || true; done
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap clean EXIT

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
is() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || fail "$1: $2 instead of $3"
  echo "ok: $1"
}
within() { # SECONDS COMMAND…: until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "not in time: $*"
    sleep 0.2
  done
}
status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

if [ -z "${BUILD_OPTIONS:-}" ] && ! buildah pull --quiet "$(sed -n 's/^ARG RUNTIME=//p' Dockerfile)" >/dev/null 2>&1; then
  echo 'The registry of the bases cannot be reached: making bases from packages of Debian.'
  test/image-bases.sh
  build_options+=(--build-arg NODE=localhost/test-base-node --build-arg RUNTIME=localhost/test-base-runtime)
fi
buildah build --format docker --layers "${build_options[@]}" --build-arg REVISION="$(git rev-parse HEAD)" -t "$image" .
bytes=$("${podman[@]}" image inspect --format '{{.Size}}' "$image")
echo "size: $((bytes / 1000000)) MB"
[ "$bytes" -lt 200000000 ] || fail 'the image is larger than 200 MB'

# The secrets as compose.yaml has them, by the same script.
mkdir -p "$work/ops/compose"
cp ops/compose/first-run.sh "$work/ops/compose/"
sh "$work/ops/compose/first-run.sh" localhost
before=$(cat "$work"/secrets/* "$work/.env" | sha256sum)
sh "$work/ops/compose/first-run.sh" other.example.com >/dev/null
is 'a second run of first-run.sh changes nothing' "$(cat "$work"/secrets/* "$work/.env" | sha256sum)" "$before"
printf %s "$DATABASE_URL" >"$work/database-url"

# A person at a repository host.
node --input-type=module -e "
  import { startRepohost } from '$PWD/build/demo/repohost.js'
  const host = await startRepohost()
  console.log(host.url, host.addUser('ada').token)" >"$work/host" &
started+=($!)
within 10 test -s "$work/host"
read -r host_url host_token <"$work/host"

start() { # NAME PORT
  "${podman[@]}" run --detach --name "test-$1" --no-healthcheck --network host --read-only --cap-drop ALL \
    --security-opt no-new-privileges "${run_options[@]}" \
    --volume "$work/secrets/jwt-secrets:/run/secrets/jwt-secrets:ro" \
    --volume "$work/database-url:/run/secrets/database-url:ro" \
    --env DATABASE_URL_FILE=/run/secrets/database-url --env JWT_SECRETS_FILE=/run/secrets/jwt-secrets \
    --env HOST=127.0.0.1 --env PORT="$2" --env BASE_URL="http://127.0.0.1:$front" --env TRUST_PROXY=127.0.0.1 \
    --env REPOHOST_URL="$host_url" --env REPOHOST_API_URL="$host_url" --env RATE_LIMITS=off \
    --env SHUTDOWN_DELAY_MS=3000 --env LOG_LEVEL=warn "$image" >/dev/null
  within 60 curl -sf "http://127.0.0.1:$2/api/ready"
}
stop() { # NAME: within 10 s beside SHUTDOWN_DELAY_MS, with exit code 0
  local since=$SECONDS
  "${podman[@]}" stop --time 30 "test-$1" >/dev/null
  is "the exit code of $1" "$("${podman[@]}" inspect --format '{{.State.ExitCode}}' "test-$1")" 0
  [ $((SECONDS - since)) -le 13 ] || fail "$1 took $((SECONDS - since)) s to end"
  "${podman[@]}" rm "test-$1" >/dev/null
}

start one "${ports[0]}"
one=http://127.0.0.1:${ports[0]}
for path in /api/health /api/ready / /api/docs /api/openapi.json /api/docs/getting-started; do
  is "$path" "$(status "$one$path")" 200
done
is 'who runs it' "$("${podman[@]}" exec test-one node -p 'process.getuid()')" 65532
health=$("${podman[@]}" image inspect --format '{{json .HealthCheck.Test}}' "$image")
mapfile -d '' -t check < <(node -e 'process.stdout.write(JSON.parse(process.argv[1]).slice(1).join("\0"))' "$health")
"${podman[@]}" exec test-one "${check[@]}" && echo 'ok: its own check of its health'
if "${podman[@]}" exec test-one node -e 'require("fs").writeFileSync("/service/x", "")' 2>/dev/null; then
  fail 'its file system can be written'
fi
"${podman[@]}" exec test-one node build/src/bin/doctor.js | tail -n 3 || true

start two "${ports[1]}"
DOMAIN=http://127.0.0.1:$front INSTANCES="127.0.0.1:${ports[0]} 127.0.0.1:${ports[1]}" HOME=$work \
  caddy run --adapter caddyfile --config ops/compose/Caddyfile 2>"$work/caddy.log" &
started+=($!)
api=http://127.0.0.1:$front/api
within 10 curl -sf "$api/ready"

token=$(curl -sf "$api/auth/verify" -H 'Content-Type: application/json' -d "{\"repohost_token\":\"$host_token\"}" |
  node -p 'JSON.parse(require("fs").readFileSync(0)).token')
auth=(-H "Authorization: Bearer $token" -H 'Content-Type: application/json')
is 'a push' "$(status -X PUT "$api/settings/ada/dotfiles" "${auth[@]}" -H "X-Repohost-Token: $host_token" \
  -d '{"settings":{"ext.theme":"dark"}}')" 200

# Four people flush and read, until both instances have been replaced.
today=$(date -u +%F)
worker() {
  local n=0 answer
  while [ ! -e "$work/over" ]; do
    n=$((n + 1))
    answer=$(status "$api/team/active-minutes" "${auth[@]}" \
      -d "{\"flush_id\":\"$1-$n\",\"entries\":[{\"repo\":\"ada/dotfiles\",\"day\":\"$today\",\"minutes\":1}]}") || true
    echo "$answer" >>"$work/flushes.$1"
    answer=$(status "$api/settings/ada/dotfiles" "${auth[@]}") || true
    echo "$answer" >>"$work/reads.$1"
    sleep 0.1
  done
}
workers=()
for n in 1 2 3 4; do
  worker $n &
  workers+=($!)
done
sleep 2
for n in 0 1; do
  name=$([ $n = 0 ] && echo one || echo two)
  stop "$name"
  start "$name" "${ports[$n]}"
  sleep 3
done
touch "$work/over"
wait "${workers[@]}"
echo "requests: $(cat "$work"/flushes.* "$work"/reads.* | wc -l), by status: $(cat "$work"/flushes.* "$work"/reads.* | sort | uniq -c | xargs)"
is 'requests that failed while instances were replaced' "$(cat "$work"/flushes.* "$work"/reads.* | grep -cv '^200$' || true)" 0
sent=$(cat "$work"/flushes.* | wc -l)
counted=$(curl -sf "$api/team/active-minutes?day=$today" "${auth[@]}" |
  node -p 'JSON.parse(require("fs").readFileSync(0)).workspaces[0].minutes')
is 'minutes that are there once' "$counted" "$((sent < 1440 ? sent : 1440))"
stop one
stop two
echo 'The image does what it should.'
