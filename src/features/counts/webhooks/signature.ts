/**
 * Verifies a webhook delivery's signature. Webhook secrets are derived, so that neither the database nor a backup
 * contains any.
 */
import { createHash, createHmac, type Hmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Access } from '../../../platform/access/access.js'
import type { Proof } from '../../../platform/hosts/kind.js'
import { FormPayload } from './form.js'

/** A webhook and the secret generations it still accepts. */
interface AcceptedSecrets {
  id: string
  generations: number[]
}

const deriveSecret = (key: string, id: string, generation: number): string =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'webhook secrets', 32)))
    .update(`${id} ${generation}`)
    .digest('base64url')

/** The secret to show, derived from the first key. */
export const newSecretOf = (keys: string[], id: string, generation: number): string | undefined =>
  keys[0] === undefined ? undefined : deriveSecret(keys[0], id, generation)

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Compares a delivery's body, as it arrives, with its proof, in a time that doesn't depend on the secrets. */
export class Verification {
  private readonly hmacs: Hmac[]
  /** Of the JSON in a form, which Forgejo and Gitea sign. */
  private readonly payload: { form: FormPayload; hmacs: Hmac[] } | undefined
  private readonly isSecret: boolean
  private hasBody = false

  constructor(
    keys: string[],
    { id, generations }: AcceptedSecrets,
    readonly proof: Proof,
    signsPayloadOfForm = false,
  ) {
    const secrets = keys.flatMap((key) => generations.map((generation) => deriveSecret(key, id, generation)))
    const hmacs = () => ('hmac' in proof ? secrets.map((secret) => createHmac('sha256', secret)) : [])
    this.hmacs = hmacs()
    this.payload = signsPayloadOfForm ? { form: new FormPayload(), hmacs: hmacs() } : undefined
    const given = 'secret' in proof ? sha256(proof.secret) : undefined
    // All are compared, even after a match.
    const equal = given ? secrets.filter((secret) => timingSafeEqual(sha256(secret), given)) : []
    this.isSecret = equal.length > 0
  }

  /** Whether the proof is wrong whatever the body is. */
  get hasFailed(): boolean {
    return 'secret' in this.proof && !this.isSecret
  }

  add(chunk: Buffer): void {
    this.hasBody = true
    for (const hmac of this.hmacs) hmac.update(chunk)
    if (this.payload) this.addPayload(this.payload.form.push(chunk))
  }

  private addPayload(part: Buffer): void {
    for (const hmac of this.payload?.hmacs ?? []) hmac.update(part)
  }

  /** Whether the complete body is genuine. Call it once. */
  get holds(): boolean {
    // Without a body, nothing was signed.
    if (!this.hasBody) return false
    if ('secret' in this.proof) return this.isSecret
    if (this.payload) this.addPayload(this.payload.form.end())
    const given = Buffer.from(this.proof.hmac, 'hex')
    const hmacs = [...this.hmacs, ...(this.payload?.hmacs ?? [])]
    return hmacs.filter((hmac) => timingSafeEqual(hmac.digest(), given)).length > 0
  }
}

/** The repository host's proof that it knows the webhook secret; `routes/deliveries.ts` checks it. */
export const webhookSecret: Access = {
  callers: 'the repository host, with the webhook secret',
  credential: 'webhookSecret',
  usesSession: false,
  errors: ['signature_invalid', 'webhook_not_found', 'webhooks_not_configured', 'rate_limited'],
}
