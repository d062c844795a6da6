/** New values of some search parameters; `undefined` removes one. */
export type SearchChange<Search> = { [Name in keyof Search]?: Search[Name] | undefined };

/** Returns search parameters with a change. */
export function withChange<Search extends object>(
  search: Search,
  change: SearchChange<Search>,
): Search {
  const members = Object.entries({ ...search, ...change });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Search;
}
