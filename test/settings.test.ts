import t from 'tap'
import { startService } from './service.js'

t.test('settings are pushed, pulled, conflicted, restored and deleted', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('Ada')
  const settings = { 'ext.theme': 'dark', 'ext.list': [1, { a: null }] }

  const first = await ada.push('ada/dotfiles', settings)
  t.equal(first.status, 200)
  t.match(first.body, { owner: 'ada', repo: 'dotfiles', version: 1, changed: true, workspace_created: true })

  const pulled = await ada.get('/api/settings/ADA/Dotfiles')
  t.equal(pulled.status, 200)
  t.same(pulled.body.settings, settings)
  t.equal(pulled.headers.get('etag'), first.headers.get('etag'))
})
