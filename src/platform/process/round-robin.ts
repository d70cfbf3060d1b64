interface RoundRobin<Subject extends { id: string }> {
  /** Called before every round, so that new subjects are included. */
  list(): Promise<Subject[]>
  /** @returns whether there may be more to do */
  step(subject: Subject): Promise<boolean>
  isStopped(): boolean
}

/**
 * Takes a step for each subject in turn until none has more to do, so that a large one doesn't delay the others. Skips
 * subjects whose step fails. @throws {AggregateError} once the others are finished, naming the failed subjects
 */
export const roundRobin = async <Subject extends { id: string }>({
  list,
  step,
  isStopped,
}: RoundRobin<Subject>): Promise<void> => {
  const finished = new Set<string>()
  const failures = new Map<string, unknown>()
  const listOpen = async () => (await list()).filter(({ id }) => !finished.has(id))
  const takeStep = async (subject: Subject) => {
    const { id } = subject
    try {
      if (await step(subject)) return
    } catch (error) {
      failures.set(id, error)
    }
    finished.add(id)
  }
  for (let open = await listOpen(); open.length > 0; open = await listOpen()) {
    for (const subject of open) {
      if (isStopped()) return
      await takeStep(subject)
      // The next list shows whether the database is unavailable, so that other subjects don't have to find out.
      if (failures.has(subject.id)) break
    }
  }
  if (failures.size > 0)
    throw new AggregateError(failures.values(), `These failed: ${[...failures.keys()].join(', ')}`)
}
