/** The history of settings: who changed what and when, any two versions side by side, and restoring one. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../client/src/operations.js'
import type { ReadState } from './api.js'
import { time } from './format.js'
import { changedKeys, type Values } from './json.js'
import { useUrlQuery } from './query.js'
import { ReasonField, reasonIn } from './reason.js'
import { KeysAsText, SettingKey } from './setting-key.js'
import { toast } from './toast.js'
import { Arrow, Confirm, Loaded } from './ui.js'
import { undoing } from './undo.js'

type Heads = AnswerOf<'GET /api/team/workspaces/{id}/settings/versions'>
type Warnings = NonNullable<AnswerOf<'GET /api/team/workspaces/{id}/settings'>['warnings']>

/** A version's content. Only the workspace settings have locks and an idle window. */
export interface Content {
  settings: Values
  locked?: string[]
  merged?: string[]
  idle_window_minutes?: number
}

/** Locks, merges and the idle window as additional values. Their names can't be keys, which have no parentheses and a prefix. */
const LOCK = ' (lock)'
const MERGE = ' (merge)'
const SUFFIX = / \((?:lock|merge)\)$/
const IDLE = 'Idle window in minutes'
const valuesOf = ({ settings, locked, merged, idle_window_minutes }: Content): Values => ({
  ...settings,
  ...Object.fromEntries((locked ?? []).map((key) => [key + LOCK, true])),
  ...Object.fromEntries((merged ?? []).map((key) => [key + MERGE, true])),
  ...(idle_window_minutes !== undefined && { [IDLE]: idle_window_minutes }),
})

const MAX_SHOWN = 6
const NAMED = 3

export const History = (props: {
  title?: string
  /** Distinguishes names in the address if a page has two histories. */
  prefix?: string
  versions: ReadState<Heads>
  /** Reads a version; `undefined` reads nothing. */
  useVersion: (version: number | undefined) => ReadState<Content>
  mayRestore: boolean
  /** Restores a version onto the current one, or onto that of `etag`, and reads everything again. */
  restore: (
    body: { version: number; reason?: string },
    etag?: string,
  ) => Promise<{ data: { warnings?: Warnings | undefined }; etag: string | undefined }>
  /** A restore's changes, as a sentence. */
  effect: string
  /** What a version changed that changed none of its values. */
  otherwise?: string
}) => {
  const { versions, useVersion, mayRestore, restore, title = 'Versions', prefix = '' } = props
  const { query, change } = useUrlQuery()
  const [restoring, setRestoring] = useState<number>()
  const [warnings, setWarnings] = useState<Warnings>([])
  const [all, showAll] = useState(false)
  const list = versions.data?.versions ?? []
  const numbers = list.map(({ version }) => version)
  const known = (text: string | undefined) => numbers.find((version) => String(version) === text)
  // By default, the current version is compared with the previous one.
  const newer = known(query[`${prefix}newer`]) ?? numbers[0]
  const older = known(query[`${prefix}older`]) ?? numbers[1]
  const submit = async (version: number, given: FormData) => {
    const [current = version] = numbers
    const { data, etag } = await restore({ version, ...reasonIn(given) })
    setWarnings(data.warnings ?? [])
    toast(
      `Version ${version} restored`,
      undoing(() => restore({ version: current }, etag)),
    )
    change({ [`${prefix}newer`]: undefined, [`${prefix}older`]: undefined })
  }
  return (
    <div class="two">
      <section class="card stack tight" aria-labelledby={`${prefix}versions`}>
        <h2 id={`${prefix}versions`}>{title}</h2>
        <WarningList warnings={warnings} />
        <Loaded response={versions} height={200}>
          {({ versions }) => (
            <>
              <div class="scroll">
                <table>
                  <caption class="away">{title}, newest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">Version</th>
                      <th scope="col">Change</th>
                      {numbers.length > 1 && (
                        <th scope="col">
                          <span class="away">Compare: </span>
                          <span class="sides">
                            <span>From</span> <span>To</span>
                          </span>
                        </th>
                      )}
                    </tr>
                  </thead>
                  <tbody>
                    {versions
                      .slice(0, all ? undefined : MAX_SHOWN)
                      .map(({ version, created_at, created_by, reason }, index) => (
                        <tr key={version}>
                          <th scope="row">
                            {version} {index === 0 && <span class="tag">current</span>}
                            {index > 0 && mayRestore && (
                              <button type="button" class="plain act" onClick={() => setRestoring(version)}>
                                Restore<span class="away"> version {version}</span>
                              </button>
                            )}
                          </th>
                          <td>
                            <Summary
                              version={version}
                              previous={numbers[index + 1]}
                              useVersion={useVersion}
                              otherwise={props.otherwise ?? 'Settings unchanged'}
                            />
                            <div class="small muted">
                              {created_by === null ? 'Author not recorded' : <bdi>{created_by}</bdi>},{' '}
                              {time(created_at)}
                            </div>
                            {reason !== null && <div class="small">{reason}</div>}
                          </td>
                          {numbers.length > 1 && (
                            <td>
                              <div class="sides">
                                {(['older', 'newer'] as const).map((side) => (
                                  <label key={side} class="tap">
                                    <input
                                      type="radio"
                                      name={`${prefix}${side}`}
                                      aria-label={`${side === 'older' ? 'From' : 'To'} version ${version}`}
                                      checked={(side === 'older' ? older : newer) === version}
                                      onChange={() => change({ [`${prefix}${side}`]: String(version) })}
                                    />
                                  </label>
                                ))}
                              </div>
                            </td>
                          )}
                        </tr>
                      ))}
                  </tbody>
                </table>
              </div>
              {versions.length > MAX_SHOWN && !all && (
                <div>
                  <button type="button" onClick={() => showAll(true)}>
                    Show all {versions.length} versions
                  </button>
                </div>
              )}
            </>
          )}
        </Loaded>
      </section>
      {older && newer && (
        <section class="card stack tight" aria-labelledby={`${prefix}difference`}>
          <h2 id={`${prefix}difference`}>
            {older === newer ? 'Changes' : `Changes from version ${older} to ${newer}`}
          </h2>
          {older === newer ? (
            <p class="muted">Choose two different versions.</p>
          ) : (
            <Difference key={`${older} ${newer}`} {...{ older, newer, useVersion }} />
          )}
        </section>
      )}
      {restoring !== undefined && numbers[0] !== undefined && (
        <Confirm
          title={`Restore version ${restoring}?`}
          action={`Restore version ${restoring}`}
          isHarmless
          onClose={() => setRestoring(undefined)}
          onYes={(given) => submit(restoring, given)}
          explain={({ code, problem }) =>
            code === 'key_locked' && <p class="mono">{(problem.keys as string[] | undefined)?.join(', ')}</p>
          }
        >
          <p>{props.effect} This creates a new version, so you can undo it.</p>
          <KeysAsText.Provider value>
            <Difference
              older={numbers[0]}
              newer={restoring}
              useVersion={useVersion}
              titles={['Current', `Version ${restoring}`]}
            />
          </KeysAsText.Provider>
          <ReasonField />
        </Confirm>
      )}
    </div>
  )
}

/**
 * The keys that a version changed. Empty until the keys are known. Fails silently, because the comparison shows
 * failures.
 */
const Summary = (props: {
  version: number
  previous: number | undefined
  useVersion: (version: number | undefined) => ReadState<Content>
  otherwise: string
}) => {
  const after = props.useVersion(props.version).data
  const before = props.useVersion(props.previous).data
  const isFirst = props.previous === undefined
  const isKnown = after && (before || isFirst)
  const values = (one: Content | undefined) => (one ? valuesOf(one) : {})
  const [old, fresh] = [values(before), values(after)]
  const keys = isKnown ? changedKeys(old, fresh) : []
  const [only = ''] = keys
  return (
    <div class="line" title={keys.join('\n')}>
      {!isKnown
        ? '\u00a0'
        : isFirst
          ? props.version === 1
            ? 'First version'
            : 'Oldest kept version'
          : keys.length === 0
            ? props.otherwise
            : keys.length === 1
              ? [
                  `${only.replace(SUFFIX, '')}: `,
                  <FromTo key="values" before={textIn(old, only)} after={textIn(fresh, only)} />,
                ]
              : `${keys.slice(0, NAMED).join(', ')}${keys.length > NAMED ? ` and ${keys.length - NAMED} more` : ''}`}
    </div>
  )
}

export const Difference = (props: {
  older: number
  newer: number
  useVersion: (version: number | undefined) => ReadState<Content>
  titles?: [string, string]
}) => {
  const { older, newer, useVersion, titles = [`Version ${older}`, `Version ${newer}`] } = props
  const before = useVersion(older)
  const after = useVersion(newer)
  return (
    <Loaded response={before} height={120}>
      {(first) => (
        <Loaded response={after} height={120}>
          {(second) => <Compare before={valuesOf(first)} after={valuesOf(second)} titles={titles} />}
        </Loaded>
      )}
    </Loaded>
  )
}

/** `2 → 4`, with a drawn arrow. */
export const FromTo = ({ before, after }: { before: string; after: string }) => (
  <>
    {before} <Arrow to="right" />
    <span class="away"> to </span> {after}
  </>
)

const textIn = (values: Values, key: string): string => {
  const isThere = Object.hasOwn(values, key)
  if (key.endsWith(LOCK)) return isThere ? 'locked' : 'not locked'
  if (key.endsWith(MERGE)) return isThere ? 'merged' : 'not merged'
  return isThere ? JSON.stringify(values[key], null, 1) : 'not set'
}

/** Two sets of values side by side, where they differ. */
const Compare = (props: { before: Values; after: Values; titles: [string, string] }) => {
  const { before, after, titles } = props
  const keys = changedKeys(before, after)
  const shown = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A scrolling region must be reachable by keyboard.
    const { current } = shown
    if (current && current.scrollHeight > current.clientHeight) current.tabIndex = 0
  })
  if (keys.length === 0) return <p class="muted">No differences.</p>
  return (
    <section ref={shown} class="scroll compare" aria-label="Differences">
      <table>
        <caption class="away">Differences</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key}>
              <th scope="row">{key === IDLE ? key : <SettingKey name={key.replace(SUFFIX, '')} />}</th>
              <td class={`mono ${key in before ? 'old' : ''}`}>{textIn(before, key)}</td>
              <td class={`mono ${key in after ? 'new' : ''}`}>{textIn(after, key)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The key that a warning is about. */
export const keyOf = (pointer: string): string => partsOf(pointer)[0] ?? ''

/** A place in settings: the key, and the names below it. */
const partsOf = (pointer: string): string[] =>
  pointer
    .replace(/^(?:\/body)?\/settings\//, '')
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))

const MISMATCHES = ['invalid', 'unknown']

/** What doesn't match the schema, by key, such as “This value must be true or false.” Changed values may have none. */
export const warningsByKey = (warnings: Warnings, changed: Values): Map<string, string> =>
  new Map(
    warnings.flatMap(({ path, code, message }) => {
      const [key = '', ...below] = partsOf(path)
      return key in changed || !MISMATCHES.includes(code)
        ? []
        : [[key, `${below.join('/') || 'This value'} ${message}.`]]
    }),
  )

/** Warnings about values that were just saved, or about `stored` ones. */
export const WarningList = ({ warnings, stored = false }: { warnings: Warnings; stored?: boolean }) =>
  warnings.length === 0 ? null : (
    <div class="stack tight">
      <p>{stored ? 'Warnings about these settings:' : <strong>Saved with warnings:</strong>}</p>
      <ul>
        {warnings.map(({ path, message }) => {
          const [key = '', ...below] = partsOf(path)
          return (
            <li key={`${path} ${message}`}>
              <SettingKey name={key} />
              <span class="mono">{below.map((name) => `/${name}`).join('')}</span> {message}
            </li>
          )
        })}
      </ul>
    </div>
  )
