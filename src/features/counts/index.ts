export { clearSkippedCommits } from './queries/webhooks.js'
