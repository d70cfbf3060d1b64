/** Makes it expensive to find the workspaces of a repository, with as many patterns as a person can have if others add them. */
import type { Service } from './service.js'

/** Patterns of 90 stars, which could be entered once. */
export const oldBombs = `repeat('*a', 89) || '*' || chr(96 + n % 26) || n`
/** Patterns on which LIKE spends the most, as they can be entered now. */
export const bombs = `'*' || repeat('a', 39 + n / 6) || chr(98 + n % 6) || '*b*c*'`

/** Makes a caller the admin of workspaces with 50 patterns each, all of the owner that has their login. */
export const fillWithPatterns = async (
  { database }: Pick<Service, 'database'>,
  login: string,
  workspaces: number,
  /** SQL: the name of pattern `n`. */
  pattern = bombs,
): Promise<void> => {
  const statements = [
    `insert into workspaces (id, name, idle_window_minutes)
      select gen_random_uuid(), $1::text || ' ' || n, 5 from generate_series(1, ${workspaces}) n`,
    `insert into members (workspace_id, user_id, role)
      select w.id, u.id, 'admin' from workspaces w, users u where w.name like $1::text || ' %' and u.login = $1::text`,
    `insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
      select w.id, $1::text, k, n, $1::text || '/' || k, false, length(replace(k, '*', '')), replace(k, '*', '%')
      from workspaces w, generate_series(1, 50) n, lateral (select ${pattern} as k) p
      where w.name like $1::text || ' %'`,
  ]
  for (const text of statements) await database.hot.statement(text, [login])
}
