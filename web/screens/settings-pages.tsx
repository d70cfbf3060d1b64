/** A workspace's settings, on separate pages. */
import { useRoute } from 'preact-iso/router'
import { useWorkspace, type Workspace } from '../me.js'
import { KeyText } from '../setting-key.js'
import { useTitle } from '../title.js'
import { SkipLinks } from '../ui.js'
import { WorkspaceKeys } from './access-keys.js'
import { Audit } from './audit.js'
import { General } from './general.js'
import { MembersPrivacy } from './members-privacy.js'
import { OrganizationLink } from './organization.js'
import { SettingPage } from './setting.js'
import { EditorSettings } from './settings.js'
import { Webhook } from './webhook.js'

interface SettingsPage {
  /** The end of the address. */
  path: string
  title: string
  /** The heading after the workspace's name. */
  heading: string
  isShown: (workspace: Workspace) => boolean
  Content: () => preact.ComponentChildren
}

const toAll = () => true
const toAdmins = ({ role }: Workspace) => role === 'admin'

const Integrations = () => {
  const workspace = useWorkspace()
  const isAdmin = toAdmins(workspace)
  return (
    <div class="stack">
      {isAdmin && <Webhook />}
      {!workspace.personal && <OrganizationLink />}
      {isAdmin && <WorkspaceKeys />}
    </div>
  )
}

const pages: SettingsPage[] = [
  { path: '', title: 'Editor settings', heading: 'editor settings', isShown: toAll, Content: EditorSettings },
  {
    path: '/privacy',
    title: 'Privacy',
    heading: 'privacy',
    isShown: toAll,
    Content: MembersPrivacy,
  },
  {
    path: '/integrations',
    title: 'Integrations',
    heading: 'integrations',
    isShown: (workspace) => toAdmins(workspace) || workspace.organization !== null,
    Content: Integrations,
  },
  { path: '/audit', title: 'Audit', heading: 'audit trail', isShown: toAdmins, Content: Audit },
  { path: '/general', title: 'General', heading: 'general settings', isShown: toAdmins, Content: General },
]

export const Settings = () => {
  const workspace = useWorkspace()
  const { page = '' } = useRoute().params
  const shown = pages.filter(({ isShown }) => isShown(workspace))
  const current = pages.find(({ path }) => path === (page && `/${page}`))
  useTitle(current ? `${workspace.name} ${current.heading}` : page)
  return (
    <>
      <h1>
        {current ? (
          <>
            <bdi>{workspace.name}</bdi> {current.heading}
          </>
        ) : (
          <KeyText name={page} />
        )}
      </h1>
      {current?.path === '' && <SkipLinks to={[['versions', 'Skip to versions']]} />}
      <nav class="pages" aria-label="Settings pages">
        <ul>
          {shown.map(({ path, title }) => (
            <li key={path}>
              <a
                href={`/w/${workspace.id}/settings${path}`}
                aria-current={path !== (current?.path ?? '') ? undefined : current ? 'page' : 'true'}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {!current ? (
        <SettingPage key={page} name={page} />
      ) : current.isShown(workspace) ? (
        <current.Content key={current.path} />
      ) : (
        <p>
          Only admins see this page. <a href={`/w/${workspace.id}/people`}>View admins</a>
        </p>
      )}
    </>
  )
}
