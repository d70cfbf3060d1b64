/** The groups of operations in the document. */
export const tags = [
  { name: 'auth', description: 'Sign in and out.' },
  { name: 'profile', description: "The caller's profile, recording preferences and data." },
  { name: 'settings', description: 'One settings snapshot per repository, with its history.' },
  { name: 'team', description: 'Workspaces: members, roles, invites, patterns, settings, overrides.' },
  { name: 'activity', description: 'Active minutes, daily counts, and the dashboard that shows them.' },
  { name: 'editors', description: 'Heartbeats of editors, as WakaTime tools send them.' },
  { name: 'billing', description: 'Subscriptions at the billing provider.' },
  { name: 'models', description: "Models of two providers, listed with the caller's own keys." },
  { name: 'funnel', description: 'Activation events, and the steps that users reach.' },
  { name: 'service', description: 'Health, limits and privacy of the service.' },
]
