import { type Static, Type } from '@sinclair/typebox'
import { Closed, Named, Nullable, Resource, ref, StringEnum, Timestamp, Uuid } from './common.js'
import { limits } from './limits.js'

const url = Type.String({
  description: 'Enter it on the repository host as the webhook URL.',
  examples: ['https://api.example.com/api/repohost/webhook/0193a0c2-7d55-4cc1-9c5e-6a1f2b3c4d5e'],
})

export const CreatedWebhook = Named('CreatedWebhook', {
  url,
  secret: Type.String({
    description: 'Enter it on the repository host as the webhook secret. It is shown only here.',
    examples: ['Hc0l2wJYqYVfX9bD5oKc1x7m3sUe8aTgRnPzLqWv4iE'],
  }),
})

const SkippedCounts = Closed(
  {
    not_a_member: Type.Integer({
      description: 'The payload names a login or a host id that isn’t a member’s.',
      examples: [1],
    }),
    unknown_author: Type.Integer({
      description:
        'The payload names no one, or only an address that the host hasn’t confirmed as a member’s.',
      examples: [0],
    }),
    outside_patterns: Type.Integer({
      description: 'The repository matches none of the workspace’s patterns.',
      examples: [0],
    }),
    not_delivered: Type.Integer({
      description: 'Pushed commits that the host left out. They aren’t included in `skipped`.',
      examples: [0],
    }),
  },
  {
    description:
      'The first three add up to `skipped`. Null: an earlier version of the service received the delivery.',
  },
)

const SkippedCommit = Named('SkippedCommit', {
  hash: Type.String({ description: 'The first 10 characters.', examples: ['5f3a9c2e1b'] }),
  author: Nullable(
    Type.String({
      description:
        'The login in the payload. Null: there is none, because addresses aren’t stored, or the repository matches no pattern.',
      examples: ['eve'],
    }),
  ),
  because: StringEnum(['not_a_member', 'unknown_author', 'outside_patterns'], {
    description: 'As in `skipped_because`.',
    examples: ['not_a_member'],
  }),
})

export const Delivery = Named('WebhookDelivery', {
  at: Timestamp,
  event: Type.String({ description: 'The repository host’s name for it.', examples: ['push'] }),
  status: Type.Integer({ description: 'The response’s HTTP status.', examples: [200] }),
  repo: Type.Optional(
    Nullable(
      Type.String({
        description: 'Null: the delivery isn’t about a repository.',
        examples: ['acme/api-gateway'],
      }),
    ),
  ),
  counted: Type.Optional(
    Type.Integer({
      description:
        'The commits and closed issues that changed a count. Those that were reported before, or that an uploaded count replaces, aren’t included.',
      examples: [3],
    }),
  ),
  skipped: Type.Optional(
    Type.Integer({
      description:
        'The commits and closed issues of people who aren’t members, or of a repository that matches no pattern.',
      examples: [1],
    }),
  ),
  skipped_because: Type.Optional(Nullable(SkippedCounts)),
  skipped_commits: Type.Optional(
    Type.Array(SkippedCommit, {
      description:
        'The first 100 skipped commits. Empty if there are none, an earlier version of the service received the delivery, or one of the authors has deleted their account.',
    }),
  ),
})

export const Webhook = Resource(
  'Webhook',
  {
    url,
    created_at: Timestamp,
    deliveries: Type.Array(Delivery, {
      description: `The last ${limits.webhook_deliveries_listed} correctly signed deliveries, the latest first. At the privacy level \`team\`, \`repo\`, \`counted\`, \`skipped\`, \`skipped_because\` and \`skipped_commits\` are left out, because they would show who worked when.`,
    }),
  },
  {
    examples: [
      {
        url: url.examples[0],
        created_at: '2026-11-21T09:30:00.000Z',
        deliveries: [
          {
            at: '2026-11-21T10:00:00.000Z',
            event: 'push',
            status: 200,
            repo: 'acme/api-gateway',
            counted: 3,
            skipped: 1,
            skipped_because: { not_a_member: 1, unknown_author: 0, outside_patterns: 0, not_delivered: 0 },
            skipped_commits: [{ hash: '5f3a9c2e1b', author: 'eve', because: 'not_a_member' }],
          },
        ],
      },
    ],
  },
)
export type Webhook = Static<typeof Webhook>

export const WebhookList = Named('WebhookList', { webhooks: Type.Array(ref(Webhook)) })

export const DeliveryParams = Type.Object({ id: Uuid })

export const DeliveryHeaders = Type.Object({
  'x-hub-signature-256': Type.Optional(
    Type.String({
      description: 'GitHub, Forgejo, Gitea: `sha256=` and the HMAC-SHA256 of the raw body in hex.',
      examples: ['sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'],
    }),
  ),
  'x-forgejo-signature': Type.Optional(
    Type.String({ description: 'Forgejo: the HMAC-SHA256 of the raw body in hex.' }),
  ),
  'x-gitea-signature': Type.Optional(
    Type.String({ description: 'Gitea: the HMAC-SHA256 of the raw body in hex.' }),
  ),
  'x-gitlab-token': Type.Optional(Type.String({ description: 'GitLab: the secret itself.' })),
})

/** The format is the host's own, so every property is allowed. */
export const DeliveryPayload = Resource(
  'DeliveryPayload',
  {},
  {
    additionalProperties: true,
    description:
      'A payload in the repository host’s own format. Properties that the service doesn’t use are ignored.',
    examples: [{ zen: 'Keep it logically awesome.' }],
  },
)
