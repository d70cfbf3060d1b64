/** The groups of operations in the document. */
export const tags = [
  { name: 'auth', description: 'Sign in and out.' },
  { name: 'profile', description: 'Who the caller is.' },
  { name: 'settings', description: 'One settings snapshot per repository, with its history.' },
  { name: 'team', description: 'Workspaces: members, roles, invites, patterns, settings, overrides.' },
  { name: 'billing', description: 'Subscriptions at the billing provider.' },
  { name: 'models', description: "Model lists of two providers, with the caller's own keys." },
  { name: 'funnel', description: 'Activation events, and how far users come.' },
  { name: 'activity', description: 'Active minutes, daily counts, and the dashboard made of them.' },
  { name: 'service', description: 'The service itself.' },
]
