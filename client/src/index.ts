export type * from './api.js'
export { type AnswerCache, type CachedAnswer, memoryCache } from './cache.js'
export { type Client, type ClientOptions, createClient } from './client.js'
export type { Answer, AnswerOf, CallOptions, Operation, ProblemOf, RequestOptions } from './operations.js'
export { paginate } from './paginate.js'
export { ApiProblem, isProblem } from './problem.js'
export {
  type Clock,
  createFlushQueue,
  type FlushQueue,
  type FlushQueueOptions,
  type Pending,
  type QueueState,
  type Report,
} from './queue.js'
export { repositoryAt } from './repository.js'
export {
  type Applied,
  applySettings,
  type Editor,
  effectiveConfig,
  idleWindow,
  type Pulled,
  type Push,
  type Pushed,
  pullSettings,
  pushSettings,
  type Repo,
} from './settings.js'
export { type Batch, type BatchState, type FlushStorage, type Leases, memoryStorage } from './storage.js'
