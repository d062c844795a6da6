/**
 * Returns a validation of search parameters whose result replaces those of the address. The router merges the result of
 * a validation with the parameters: without this, pages read those that the validation leaves out.
 */
export const onlyValid =
  <Search extends object>(validate: (search: Record<string, unknown>) => Search) =>
  (search: Record<string, unknown>): Search => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...validate(search),
  });
