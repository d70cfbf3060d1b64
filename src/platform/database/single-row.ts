/** The row of a statement that always has one, such as an aggregate or an upsert. @throws when there is none */
export const singleRow = <Row>([row]: Row[]): Row => {
  if (row === undefined) throw new Error('The database returned no row where there is always one')
  return row
}
