/** Connections between repositories and days or cells, by the people who work in both. */
import { type Amount, ERASED_PERSON, type Interruptible, STEPS_PER_PAUSE } from './amounts.js'

/** The connections that one person's work makes between repositories and slots: days, cells, or cells on days. */
export interface Island {
  person: number
  nodes: number[]
}

export function* islandsOf(
  amounts: Amount[],
  link: (amount: Amount) => [repo: number, slot: number],
): Interruptible<Island[]> {
  const islands = new Map<number, Map<number, number[]>>()
  for (const [index, amount] of amounts.entries()) {
    if (index % STEPS_PER_PAUSE === 0) yield
    const own = islands.get(amount.person) ?? new Map<number, number[]>()
    islands.set(amount.person, own)
    const [a, b] = link(amount).map((node) => own.get(node) ?? [node]) as [number[], number[]]
    if (a === b) continue
    const joined = [...a, ...b]
    for (const node of joined) own.set(node, joined)
  }
  return [...islands].flatMap(([person, own]) =>
    [...new Set(own.values())].map((nodes) => ({ person, nodes })),
  )
}

/**
 * Nodes of every island that spans more than one class. A class starts with one node, and gains each node that enough
 * people, or all people there are, connect with it.
 */
export function* splitIslandNodes(islands: Island[], group: number): Interruptible<number[]> {
  const islandsAt = new Map<number, Island[]>()
  let steps = 0
  for (const island of islands) {
    if (steps++ % (STEPS_PER_PAUSE / 10) === 0) yield
    for (const node of island.nodes) {
      const there = islandsAt.get(node)
      if (there) there.push(island)
      else islandsAt.set(node, [island])
    }
  }
  const peopleAt = new Map(
    [...islandsAt].map(([node, there]) => [
      node,
      there.filter(({ person }) => person !== ERASED_PERSON).length,
    ]),
  )
  const sizeOf = (node: number) => peopleAt.get(node) ?? 0
  const classes = new Map<number, number>()
  for (const first of [...islandsAt.keys()].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const reached = new Set<Island>()
    const connecting = new Map<number, number>()
    const next = [first]
    for (let node = next.pop(); node !== undefined; node = next.pop()) {
      if (classes.has(node)) continue
      classes.set(node, first)
      for (const island of islandsAt.get(node) ?? []) {
        if (reached.has(island)) continue
        reached.add(island)
        if (steps++ % (STEPS_PER_PAUSE / 10) === 0) yield
        for (const other of island.nodes) {
          const people = (connecting.get(other) ?? 0) + (island.person === ERASED_PERSON ? 0 : 1)
          connecting.set(other, people)
          if (people >= Math.min(group, sizeOf(other))) next.push(other)
        }
      }
    }
  }
  const main = classes.values().next().value
  const crossing = islands.filter(({ nodes }) => new Set(nodes.map((node) => classes.get(node))).size > 1)
  return [...new Set(crossing.flatMap(({ nodes }) => nodes))].filter((node) => classes.get(node) !== main)
}
