/** The part of an address that says which changes of a loop are displayed. */

import type { SearchChange } from "./search-change";

export interface ChangesAddress {
  /** Name of the repository. Without one, the first. */
  repo?: string;
  /** Path of the file to scroll to. */
  file?: string;
  /** Line in `file`: `R12` of the new, `L12` of the old side. */
  line?: string;
  /** `since:<commit>`: the changes after it; `commit:<commit>`: its changes. Without one, all changes. */
  range?: string;
  /** Id of the comment to show. */
  comment?: string;
  /** Id of the finding to show. */
  finding?: string;
  /** Both sides next to each other. Without one, one below the other. */
  view?: "split";
}

/** New values of parts of the address; `undefined` removes one. */
export type AddressChange = SearchChange<ChangesAddress>;

const PATTERNS = {
  repo: /^.+$/,
  file: /^[^]+$/,
  line: /^[LR][1-9]\d{0,8}$/,
  range: /^(since|commit):[0-9a-f]{40,64}$/,
  comment: /^[\w-]{1,100}$/,
  finding: /^[\w-]{1,100}$/,
  view: /^split$/,
};

/** Reduces search parameters to valid ones. */
export function changesAddress(search: Record<string, unknown>): ChangesAddress {
  const valid = Object.entries(PATTERNS).filter(([name, pattern]) => {
    const value = search[name];
    return typeof value === "string" && pattern.test(value);
  });
  return Object.fromEntries(valid.map(([name]) => [name, search[name]]));
}

/** Returns the lines that an address names. */
export function lineOf({
  line,
}: ChangesAddress): { side: "old" | "new"; line: number } | undefined {
  return line
    ? { side: line.startsWith("L") ? "old" : "new", line: Number(line.slice(1)) }
    : undefined;
}

/** The commits of a range, as requests name them. */
export function rangeOf({ repo, range }: ChangesAddress): {
  repository?: string;
  since?: string;
  commit?: string;
} {
  const [kind, commit] = range?.split(":") ?? [];
  return repo && kind ? { repository: repo, [kind]: commit } : {};
}
