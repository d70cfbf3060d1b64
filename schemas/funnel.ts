import { type Static, Type } from '@sinclair/typebox'
import { Closed, Day, Named, Nullable, Resource } from './common.js'
import { limits } from './limits.js'

const slug = {
  pattern: `^[a-z][a-z0-9_.-]{0,${limits.funnel_slug_length - 1}}$`,
  maxLength: limits.funnel_slug_length,
}

export const FunnelEvent = Type.String({ ...slug, examples: ['settings_opened'] })
export const FunnelSource = Type.String({ ...slug, examples: ['extension'] })

export const EventBody = Named('EventBody', {
  event: FunnelEvent,
  source: Type.String({
    ...slug,
    not: { const: 'service' },
    description: 'Where the event happened. `service` is reserved for what the service itself records.',
    examples: ['extension'],
  }),
})

/** Events that the service records itself, with the source `service`, at most once per user. */
export type Milestone =
  | 'signed_in'
  | 'workspace_created'
  | 'workspace_joined'
  | 'settings_pushed'
  | 'settings_pulled'
  | 'activity_flushed'

export const FunnelQuery = Type.Object({
  from: Type.Optional(
    Type.String({ ...Day, description: 'The first UTC day. Default: the day of the first event.' }),
  ),
  to: Type.Optional(Type.String({ ...Day, description: 'The last UTC day, inclusive. Default: today.' })),
  source: Type.Optional(
    Type.String({ ...FunnelSource, description: 'Only events of this source (`service` included).' }),
  ),
})

const Users = Type.Integer({ description: 'Different users.', examples: [120] })
const Events = Type.Integer({ description: 'Events, including repeated ones.', examples: [340] })
const Conversion = Nullable(
  Type.Number({
    description:
      'From 0 to 1: the share of users with the other event who also have this one. Null if there are none.',
    examples: [0.75],
  }),
)

export const Funnel = Resource('Funnel', {
  range: Closed({ from: Nullable(Type.String(Day)), to: Nullable(Type.String(Day)) }),
  users: Users,
  steps: Type.Array(
    Named('FunnelStep', {
      event: FunnelEvent,
      users: Users,
      events: Events,
      conversion_from_previous: Conversion,
      conversion_from_start: Conversion,
      median_seconds_from_start: Nullable(
        Type.Number({
          description:
            'Seconds between the first occurrences of the two events, for users who have both. A step before the start counts as 0.',
          examples: [86_400],
        }),
      ),
    }),
  ),
  by_source: Type.Array(Named('SourceCount', { source: FunnelSource, users: Users, events: Events }), {
    description: `The ${limits.funnel_names} sources with the most users.`,
  }),
  other_events: Type.Array(Named('EventCount', { event: FunnelEvent, users: Users, events: Events }), {
    description: `The ${limits.funnel_names} events with the most users that aren’t steps.`,
  }),
})
export type Funnel = Static<typeof Funnel>
