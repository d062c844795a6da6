/** Search and grouping of the list of change requests, as in the address and in saved views. */
import type { operations } from "@/api/control-plane.gen";

export type Grouping = operations["change_requests_groups"]["parameters"]["query"]["by"];

export const GROUPINGS: Record<Grouping, string> = {
  state: "State",
  repository: "Repository",
  person: "Person",
};

export interface WorkAddress {
  /** Search with qualifiers. */
  q?: string;
  group?: Grouping;
}

/** Returns the parameters of an address that are known. */
export function workAddress({ q, group }: Record<string, unknown>): WorkAddress {
  // The router parses a text of digits as a number.
  const search = typeof q === "string" || typeof q === "number" ? String(q) : "";
  const isGrouped = typeof group === "string" && Object.hasOwn(GROUPINGS, group);
  return {
    ...(search !== "" && { q: search }),
    ...(isGrouped && { group: group as Grouping }),
  };
}

/** Returns an address as a text, in one order of its parameters. */
export function toSaved({ q, group }: WorkAddress): string {
  return new URLSearchParams({ ...(q && { q }), ...(group && { group }) }).toString();
}

export const fromSaved = (search: string): WorkAddress =>
  workAddress(Object.fromEntries(new URLSearchParams(search)));
