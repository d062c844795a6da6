/** The search of change requests: a text with qualifiers, as in the address. */
import type { ChangeState } from "@/api/types";

import { STATES } from "./states";

/** Query parameters of the list. */
export interface ChangeRequestFilters {
  text?: string;
  repo?: string;
  /** E-mail address. */
  person?: string;
  state?: ChangeState[];
  mine?: boolean;
  attention?: boolean;
  archived?: boolean;
}

// The control plane rejects longer texts.
const MAX_TEXT_CHARS = 200;

const FLAGS: Record<string, keyof ChangeRequestFilters & ("mine" | "attention" | "archived")> = {
  mine: "mine",
  waiting: "attention",
  archived: "archived",
};

/**
 * Parses a search: `repo:owner/name`, `person:ada@example.org`, `state:failed` (repeatable), `is:mine`, `is:waiting`,
 * `is:archived`; everything else is the text to search for. An unknown qualifier is part of the text.
 */
export function parseSearch(search: string): ChangeRequestFilters {
  const filters: ChangeRequestFilters = {};
  const words = [];
  for (const word of search.split(/\s+/).filter(Boolean)) {
    const [, name, value] = /^(repo|person|state|is):(.+)$/.exec(word) ?? [];
    const flag = name === "is" && value !== undefined ? FLAGS[value] : undefined;
    const stateName = name === "state" ? value?.replaceAll("-", "_") : undefined;
    const state = STATES.find((state) => state === stateName);
    if (flag) filters[flag] = true;
    else if (state) filters.state = [...new Set([...(filters.state ?? []), state])];
    else if ((name === "repo" || name === "person") && value !== undefined) filters[name] = value;
    else words.push(word);
  }
  const text = words.join(" ").slice(0, MAX_TEXT_CHARS);
  return text === "" ? filters : { ...filters, text };
}

/** Returns the search with this qualifier, or without it. */
export function withPerson(search: string, email: string | undefined): string {
  const others = search.split(/\s+/).filter((word) => word !== "" && !word.startsWith("person:"));
  return [...others, ...(email === undefined ? [] : [`person:${email}`])].join(" ");
}

/** A view of the list that is offered as a button: the search that it stands for. */
export const VIEWS = [
  { name: "All", search: "" },
  { name: "Mine", search: "is:mine" },
  { name: "Needs a person", search: "is:waiting" },
  { name: "Running", search: "state:running state:starting state:queued state:stalled" },
  { name: "Failed", search: "state:failed state:limit_reached state:delivery_failed" },
  { name: "Archived", search: "is:archived" },
] as const;
