/** The projects of marks. */
import type { RepohostKind } from '../../../schemas/common.js'
import { isRepo, type Project } from './project-names.js'
import type { EditorProject } from './queries/projects.js'

/** The projects of marks: repositories in lower case, or names that may be assigned to one. */
export class Projects {
  /** Repository names as given, by key. */
  readonly repos = new Map<string, string>()

  constructor(
    readonly known: Map<string, EditorProject>,
    private readonly kind: RepohostKind,
  ) {}

  /** @returns the project's name in marks */
  add({ repo, name }: Project): string {
    return repo === undefined ? name : this.addRepo(repo)
  }

  /** The repository's key. Undefined for a name without one. */
  keyOf(project: string): string | undefined {
    if (isRepo(project, this.kind)) return project
    const repo = this.known.get(project)?.repo
    return repo ? this.addRepo(repo) : undefined
  }

  private addRepo(repo: string): string {
    const key = repo.toLowerCase()
    if (!this.repos.has(key)) this.repos.set(key, repo)
    return key
  }
}
