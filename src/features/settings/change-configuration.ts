import type { Warnings } from '../../../schemas/common.js'
import type { ConfigurationBody, ConfigurationEffect } from '../../../schemas/configuration.js'
import { limits, type WorkspaceQuota } from '../../../schemas/limits.js'
import type { Database } from '../../platform/database/client.js'
import type { Preconditions } from '../../platform/http/etag.js'
import type { SettingsRules } from '../../platform/settings-schema/read.js'
import {
  type Change,
  changeWorkspace,
  requirePatterns,
  setPatterns,
  type WorkspaceCall,
} from '../workspaces/index.js'
import { applySettings } from './change-workspace-settings.js'
import type { ChangeList } from './configuration-changes.js'
import { batchesOf, type ConfigurationPlan, nameOf, planConfiguration } from './plan-configuration.js'
import { requireStorageFor, requireStorageQuota } from './policies/storage-quota.js'
import { deleteOverrides, limitOverrideHistory, writeOverrides } from './queries/overrides.js'
import { etagOfConfiguration, type Head, readHead } from './read-configuration.js'

export interface ConfigurationResponse {
  changes: ChangeList
  warnings: NonNullable<Warnings>
  affected: ConfigurationEffect
  etag: string
}

interface ConfigurationRequest {
  sent: ConfigurationBody
  preconditions: Preconditions
  dryRun: boolean
}

/** Everything that a change depends on besides the request. */
interface Context {
  database: Database
  rules: SettingsRules | undefined
  quota: WorkspaceQuota
}

/**
 * Replaces the sections in the body, all or nothing. A dry run gives the same response, without a change.
 * @throws {ApiError} `version_conflict`, `validation_failed`, `settings_too_large`, `repo_outside_patterns`, `key_locked`,
 * `workspace_full`, `workspace_limit`, `unavailable`
 */
export const changeConfiguration = (
  { database, rules, quota }: Context,
  call: WorkspaceCall,
  { sent, preconditions, dryRun }: ConfigurationRequest,
): Promise<ConfigurationResponse> =>
  changeWorkspace(
    database,
    call,
    'admin',
    async (change) => {
      const { workspaceId } = call
      const plan = await planConfiguration(change.tx, { workspaceId, sent, preconditions, rules })
      const { head, patterns, overrides } = plan
      if (dryRun) {
        if (patterns) await requirePatterns(change, workspaceId, head.patterns, patterns, quota)
        if (overrides.grownBytes > 0) await requireStorageFor(change.tx, workspaceId, overrides.grownBytes)
        return responseOf(workspaceId, plan, head)
      }
      await writePlan(change, workspaceId, plan, quota)
      if (overrides.grownBytes > 0) await requireStorageQuota(change.tx, workspaceId)
      return responseOf(workspaceId, plan, await readHead(change.tx, workspaceId))
    },
    { dryRun },
  )

const responseOf = (
  workspaceId: string,
  { changes, warnings, affected }: ConfigurationPlan,
  head: Head,
): ConfigurationResponse => ({ changes, warnings, affected, etag: etagOfConfiguration(workspaceId, head) })

const writePlan = async (
  change: Change,
  workspaceId: string,
  { head, settings, patterns, overrides }: ConfigurationPlan,
  quota: WorkspaceQuota,
): Promise<void> => {
  if (settings) await applySettings(change, workspaceId, head, settings)
  if (patterns) await setPatterns(change, workspaceId, head.patterns, patterns, quota)
  await writeOverridePlan(change, workspaceId, overrides)
}

const writeOverridePlan = async (
  change: Change,
  workspaceId: string,
  { written, removed }: ConfigurationPlan['overrides'],
): Promise<void> => {
  const { tx, caller, reason, recordAll } = change
  for (const batch of batchesOf(removed)) {
    await deleteOverrides(tx, workspaceId, batch)
    await recordAll(
      batch.map((one) => ({ action: 'override.removed', target: nameOf(one), details: one.details })),
    )
  }
  for (const batch of batchesOf(written)) {
    const overrides = batch.map((one) => ({ ...one, settings: JSON.stringify(one.values) }))
    await writeOverrides(tx, workspaceId, overrides, { author: caller, reason })
    await recordAll(
      batch.map((one) => ({ action: 'override.set', target: nameOf(one), details: one.details })),
    )
  }
  // The limit holds for all histories together, so it's applied once. The latest version of the last override always
  // stays.
  const last = written.at(-1)
  if (last) {
    const { ownerKey, repoKey } = last
    await limitOverrideHistory(tx, { ownerKey, repoKey, workspaceId }, limits.workspace_history_bytes)
  }
}
