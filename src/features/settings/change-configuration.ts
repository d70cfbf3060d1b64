import type { Warnings } from '../../../schemas/common.js'
import type { ConfigurationEffect } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import type { Database } from '../../platform/database/client.js'
import type { Preconditions } from '../../platform/http/etag.js'
import type { Held } from '../../platform/process/held-memory.js'
import {
  type Change,
  changeWorkspace,
  lockOwnPatterns,
  previewChange,
  setPatterns,
  type WorkspaceCall,
  type WorkspaceQuota,
} from '../workspaces/index.js'
import { applySettings } from './change-workspace-settings.js'
import type { ChangeList } from './configuration-changes.js'
import { acquireChangePermit } from './configuration-permits.js'
import type { SentConfiguration } from './configuration-reader.js'
import { batchesOf, type ConfigurationPlan, nameOf, planConfiguration } from './plan-configuration.js'
import { requireStorageFor, requireStorageQuota } from './policies/storage-quota.js'
import { deleteOverrides, limitOverrideHistory, writeOverrides } from './queries/overrides.js'
import { etagOfConfiguration, type Head, readHead } from './read-configuration.js'
import type { SettingsRules } from './schema/read.js'

export interface ConfigurationResponse {
  changes: ChangeList
  warnings: NonNullable<Warnings>
  affected: ConfigurationEffect
  etag: string
}

interface ConfigurationRequest {
  sent: SentConfiguration
  preconditions: Preconditions
  dryRun: boolean
  /** The person or address whose large changes take turns. */
  payer: string
  /** Counts what was sent, from its arrival until the change ends. */
  sentMemory: Held
  /** Counts the list of changes, until the client has read it or others need the memory. */
  changesMemory: Held
  /** Aborts when others need the memory of the request. Its change then ends without effect. */
  signal: AbortSignal
}

/** Everything that a change depends on besides the request. */
interface Context {
  database: Database
  rules: SettingsRules | undefined
  quota: WorkspaceQuota
}

/**
 * Replaces the sections in the body, all or nothing.
 * @throws {ApiError} `version_conflict`, `validation_failed`, `settings_too_large`, `repo_outside_patterns`, `key_locked`,
 * `workspace_full`, `workspace_limit`, `unavailable`
 */
export const changeConfiguration = async (
  { database, rules, quota }: Context,
  call: WorkspaceCall,
  { sent, preconditions, dryRun, payer, sentMemory, changesMemory, signal }: ConfigurationRequest,
): Promise<ConfigurationResponse> => {
  const { workspaceId } = call
  const releasePermit = await acquireChangePermit(database, workspaceId, sent.projects, payer)
  const facts = { workspaceId, sent, preconditions, rules, quota, memory: changesMemory }
  try {
    if (dryRun)
      return await previewChange(database, call, 'admin', async (preview) => {
        const plan = await planConfiguration(preview, facts)
        const { grownBytes } = plan.overrides
        if (grownBytes > 0) await requireStorageFor(preview.tx, workspaceId, grownBytes)
        return responseOf(workspaceId, plan, plan.head)
      })
    return await changeWorkspace(database, call, 'admin', async (change) => {
      if (sent.patterns) await lockOwnPatterns(change)
      const plan = await planConfiguration(change, facts)
      await writePlan(change, workspaceId, plan, signal)
      if (plan.overrides.grownBytes > 0) await requireStorageQuota(change.tx, workspaceId)
      return responseOf(workspaceId, plan, await readHead(change.tx, workspaceId))
    })
  } finally {
    sentMemory.release()
    releasePermit()
  }
}

const responseOf = (
  workspaceId: string,
  { changes, warnings, affected }: ConfigurationPlan,
  head: Head,
): ConfigurationResponse => ({ changes, warnings, affected, etag: etagOfConfiguration(workspaceId, head) })

/** @throws {ApiError} `unavailable` when the signal aborts */
const writePlan = async (
  change: Change,
  workspaceId: string,
  { head, settings, patterns, overrides }: ConfigurationPlan,
  signal: AbortSignal,
): Promise<void> => {
  if (settings) await applySettings(change, workspaceId, head, settings)
  if (patterns) await setPatterns(change, workspaceId, head.patterns, patterns)
  await writeOverridePlan(change, workspaceId, overrides, signal)
  signal.throwIfAborted()
}

const writeOverridePlan = async (
  change: Change,
  workspaceId: string,
  { written, removed }: ConfigurationPlan['overrides'],
  signal: AbortSignal,
): Promise<void> => {
  const { tx, caller, reason, recordAll } = change
  for (const batch of batchesOf(removed)) {
    signal.throwIfAborted()
    await deleteOverrides(tx, workspaceId, batch)
    await recordAll(
      batch.map((one) => ({ action: 'override.removed', target: nameOf(one), details: one.details })),
    )
  }
  for (const batch of batchesOf(written)) {
    signal.throwIfAborted()
    const overrides = batch.map((one) => ({ ...one, settings: one.settings.toString() }))
    await writeOverrides(tx, workspaceId, overrides, { author: caller, reason })
    await recordAll(
      batch.map((one) => ({ action: 'override.set', target: nameOf(one), details: one.details })),
    )
  }
  // The limit holds for all histories together, so it's applied once. The latest version of the last override always
  // stays.
  const last = written.at(-1)
  if (last) await limitOverrideHistory(tx, { ...last, workspaceId }, limits.workspace_history_bytes)
}
