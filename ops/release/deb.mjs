/**
 * npm run deb
 *
 * Makes dist/team-settings-cloud_VERSION_ARCH.deb: the service, its own Node, a system user, units of systemd and
 * /etc/team-settings-cloud/env. Needs dpkg-deb. `npm run release` names a folder with the unpacked service.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dist, name, run, say, stage, version, writeChecksums } from './stage.mjs'

/**
 * The same LTS line as in the image. Its security fixes arrive with releases of the service. From Node 25 on, it needs
 * libatomic1, which neither `Depends` nor the base of the image has.
 */
const NODE = '24.21.0'
const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch]
const program = `/usr/lib/${name}`
const state = `/var/lib/${name}`
const node = `${program}/bin/node`

const work = mkdtempSync(join(tmpdir(), `${name}-`))
const app = process.argv[2] ?? (await stage(work))
const root = mkdtempSync(join(tmpdir(), `${name}-deb-`))
chmodSync(root, 0o755)

const write = (path, text, mode = 0o644) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text, { mode })
}

/** The text with all of these replacements. Each must match, so that a changed file isn't missed. */
const changed = (text, replacements) =>
  replacements.reduce((changing, [from, to]) => {
    if (changing.search(from) === -1) throw new Error(`${from} is not in the unit`)
    return changing.replaceAll(from, to)
  }, text)

const unit = (file, replacements) => {
  const text = readFileSync(join('ops', file), 'utf8').replace(/^(#.*\n)+/, '')
  return changed(text, [
    [/\/opt\/team-settings\b/g, `${program}/app`],
    [/\/usr\/bin\/node/g, node],
    [/^LoadCredential=.*\n/gm, ''],
    [/DynamicUser=yes/g, `User=${name}`],
    ...replacements,
  ])
}

cpSync(app, join(root, program, 'app'), { recursive: true, verbatimSymlinks: true })
run('chmod', '-R', 'u+rwX,go+rX,go-w', join(root, program))

run('npm', 'pack', '--loglevel', 'error', `node-linux-${process.arch}@${NODE}`, '--pack-destination', work)
run('tar', '-xzf', join(work, `node-linux-${process.arch}-${NODE}.tgz`), '-C', work)
mkdirSync(join(root, dirname(node)), { recursive: true })
cpSync(join(work, 'package/bin/node'), join(root, node))
chmodSync(join(root, node), 0o755)

write(
  `/usr/bin/${name}`,
  `#!/bin/sh
# Runs a command of the service with the variables of the installed one, and as its user: the database and the files that a
# command makes then belong to that user, also after sudo. The files that a command is given are opened here, as root.
app=${program}/app/build/src/bin/${name}.js
variables=/etc/${name}/env
if [ "$1" = --help ] || [ "$1" = --version ] || [ "$2" = --help ]; then exec ${node} "$app" "$@"; fi
if [ -e "$variables" ] && [ ! -r "$variables" ]; then
  echo "Only root and the user ${name} can read $variables. Run: sudo ${name} $*" >&2
  exit 1
fi
grep -qs '^DATA_DIR=' "$variables" || export DATA_DIR="\${DATA_DIR-${state}}"
if [ "$(id -u)" != 0 ]; then exec ${node} --env-file-if-exists="$variables" "$app" "$@"; fi

export HOME=${state}
as_service="setpriv --reuid=${name} --regid=${name} --init-groups ${node} --env-file-if-exists=$variables $app"
written=
case "$1 $2" in
"restore "* | "import-wakatime "*)
  before=
  for argument; do
    shift
    case $before in --replace | --login) ;; *) if [ -f "$argument" ]; then exec <"$argument" && argument=-; fi ;; esac
    before=$argument
    set -- "$@" "$argument"
  done
  ;;
"backup "?*)
  force=
  command=
  for argument; do
    if [ -z "$command" ]; then command=$argument && continue; fi
    case $argument in --force) force=1 ;; --*) written= && break ;; *) written=$argument ;; esac
  done
  if [ -d "$written" ]; then written=\${written%/}/team-settings-$(date -u +%Y-%m-%dT%H%M%SZ).gz; fi
  if [ -n "$written" ] && [ "$written" != - ] && [ -e "$written" ] && [ -z "$force" ]; then
    echo "The file $written already exists, and stays as it is. Name another one, or add --force to replace it." >&2
    exit 1
  fi
  ;;
"users export" | "workspaces export") written=$4 ;;
esac
if [ -z "$written" ] || [ "$written" = - ]; then
  exec $as_service "$@"
fi
umask 077
part=$written.$$.unfinished
trap 'rm -f "$part"' EXIT
trap 'exit 1' INT TERM
case "$1" in
backup) $as_service backup - >"$part" || exit ;;
*) $as_service "$1" "$2" "$3" - >"$part" || exit ;;
esac
sync "$part" || exit
if [ "$1" = backup ] && [ -z "$force" ]; then
  ln -T "$part" "$written" 2>/dev/null || { mv -nT "$part" "$written" && [ ! -e "$part" ]; } || {
    echo "The file $written already exists, and stays as it is. Name another one, or add --force to replace it." >&2
    exit 1
  }
else
  mv -T "$part" "$written" || exit
fi
echo "The file $written is complete."
`,
  0o755,
)
write(
  `/etc/${name}/env`,
  `# The variables of the service: ${program}/app/docs/configuration.md lists them.
# After a change: systemctl restart ${name}
#BASE_URL=https://team.example.com
#TRUST_PROXY=127.0.0.1
#DATABASE_URL=postgres://service:password@127.0.0.1:5432/service
# With DATABASE_URL, also these, each made with: openssl rand -base64 48
#JWT_SECRETS=
#WEBHOOK_KEYS=
`,
  0o640,
)
write(
  `/lib/systemd/system/${name}.service`,
  unit('team-settings@.service', [
    [/ on port %i/g, ''],
    [/ PORT=%i/g, ` DATA_DIR=${state}`],
    [/^Environment=JWT_SECRETS_FILE.*\n/gm, ''],
    [
      /^EnvironmentFile=.*$/gm,
      `EnvironmentFile=-/etc/${name}/env\nStateDirectory=${name}\nStateDirectoryMode=0711`,
    ],
  ]),
)
write(
  `/lib/systemd/system/${name}-backup.service`,
  unit('team-settings-backup.service', [
    [/ DATABASE_URL_FILE=.*$/gm, ` DATA_DIR=${state}\nEnvironmentFile=-/etc/${name}/env`],
    [/^StateDirectory=.*$/gm, `StateDirectory=${name}-backup`],
  ]),
)
write(
  `/lib/systemd/system/${name}-backup.timer`,
  readFileSync('ops/team-settings-backup.timer', 'utf8').replace(/^(#.*\n)+/, ''),
)

const size = run('du', '-sk', root).toString().split('\t')[0]
write(
  '/DEBIAN/control',
  `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${name} <root@localhost>
Installed-Size: ${size}
Depends: adduser, libc6, libgcc-s1, libstdc++6
Section: net
Priority: optional
Description: Team settings and activity cloud service
 The HTTP backend behind an editor extension, with a dashboard of the team.
 It brings its own PostgreSQL and its own Node.js.
`,
)
write('/DEBIAN/conffiles', `/etc/${name}/env\n`)
// DPKG_ROOT is empty, except when a package is installed into another root folder (dpkg --root).
write(
  '/DEBIAN/postinst',
  `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  if [ -z "$DPKG_ROOT" ]; then
    getent passwd ${name} >/dev/null ||
      adduser --system --group --no-create-home --home ${state} --quiet ${name}
    install -d -m 711 -o ${name} -g ${name} ${state}
    chown root:${name} /etc/${name}/env
  fi
  if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
    systemctl daemon-reload
    systemctl enable ${name} ${name}-backup.timer
    systemctl restart ${name} ${name}-backup.timer
  fi
fi
`,
  0o755,
)
write(
  '/DEBIAN/prerm',
  `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d "$DPKG_ROOT/run/systemd/system" ]; then
  systemctl disable --now ${name} ${name}-backup.timer
fi
`,
  0o755,
)
write(
  '/DEBIAN/postrm',
  `#!/bin/sh
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
  echo "The data stay in ${state}. Delete that folder if you no longer need them."
fi
`,
  0o755,
)

mkdirSync(dist, { recursive: true })
const file = join(dist, `${name}_${version}_${architecture}.deb`)
run('dpkg-deb', '--build', '--root-owner-group', '-Zgzip', root, file)
for (const folder of [root, work]) rmSync(folder, { recursive: true })
writeChecksums()
say(file)
