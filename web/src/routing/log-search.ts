/** Search parameters of pages that show the log of a loop. */
import type { EventSubject } from "@/api/types";

// In characters.
const MAX_TEXT = 200;

export const SUBJECTS = ["errors", "commands", "files"] as const satisfies EventSubject[];

export interface LogSearch {
  text?: string;
  about?: EventSubject;
}

export function logSearch(search: Record<string, unknown>): LogSearch {
  const about = SUBJECTS.find((name) => name === search.about);
  const text = typeof search.text === "string" ? search.text.slice(0, MAX_TEXT) : "";
  return { ...(about && { about }), ...(text !== "" && { text }) };
}
