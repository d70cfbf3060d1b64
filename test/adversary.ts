/**
 * An attacker who knows everything but the amounts, and computes with all that was published: numbers as linear equations over
 * what each person did on each day, in each repository and hour.
 */

/** Sums of unknowns, and whose unknowns they are: `equations` are the numbers in which an unknown is a part. */
export interface Unknown {
  /** Null: no one, as for the work of erased people. */
  person: number | null
  equations: number[]
  /** For minutes whose sum is known, and only their hours aren't: the numbers that lose what those above gain. */
  minus?: number[]
}

/** Over the integers modulo this prime, which is as good as over the rationals for matrices of this size. */
const PRIME = 67_108_859

const inverse = (number: number): number => {
  let result = 1
  for (let exponent = PRIME - 2, base = number; exponent > 0; exponent = Math.floor(exponent / 2)) {
    if (exponent % 2 === 1) result = (result * base) % PRIME
    base = (base * base) % PRIME
  }
  return result
}

type Column = Pick<Unknown, 'equations' | 'minus'>

/** Linearly independent vectors, each with a 1 where all later ones have a 0. */
class Basis {
  constructor(
    private readonly size: number,
    private readonly vectors: { at: number; vector: Float64Array }[] = [],
  ) {}

  get rank() {
    return this.vectors.length
  }

  /** A copy of this basis with these columns added. */
  with(columns: Iterable<Column>): Basis {
    const basis = new Basis(this.size, [...this.vectors])
    for (const column of columns) basis.add(column)
    return basis
  }

  private add({ equations, minus = [] }: Column): void {
    const vector = new Float64Array(this.size)
    for (const equation of equations) vector[equation] = 1
    for (const equation of minus) vector[equation] = ((vector[equation] ?? 0) + PRIME - 1) % PRIME
    for (const known of this.vectors) {
      const factor = vector[known.at] ?? 0
      if (factor === 0) continue
      for (let index = 0; index < this.size; index++)
        vector[index] = ((vector[index] ?? 0) + (PRIME - factor) * (known.vector[index] ?? 0)) % PRIME
    }
    const at = vector.findIndex((number) => number !== 0)
    if (at === -1) return
    const factor = inverse(vector[at] ?? 1)
    this.vectors.push({ at, vector: vector.map((number) => (number * factor) % PRIME) })
  }
}

/**
 * Fewer people than the group that some combination of the equations is about, and no one else. There is one exactly
 * if the equations have a lower rank in what all the others did.
 */
export const findHole = (unknowns: Unknown[], equations: number, group: number): number[] | undefined => {
  const columns = new Map<number | null, Map<string, Column>>()
  for (const { person, equations, minus = [] } of unknowns) {
    const key = `${equations.join()} ${minus.join()}`
    if (equations.join() === minus.join()) continue
    const own = columns.get(person) ?? new Map()
    columns.set(person, own.set(key, { equations, minus }))
  }
  const { rank } = new Basis(equations).with([...columns.values()].flatMap((own) => [...own.values()]))
  columns.delete(null)
  const people = [...columns]
  /** Leaves out at most this many of the people from `next` on. */
  const search = (others: Basis, next: number, few: number[]): number[] | undefined => {
    // Adding people can't change that.
    if (others.rank === rank) return undefined
    const [person, own] = people[next] ?? []
    if (!own) return few
    const without = few.length < group - 1 ? search(others, next + 1, [...few, person ?? 0]) : undefined
    return without ?? search(others.with(own.values()), next + 1, few)
  }
  return search(new Basis(equations), 0, [])
}
