/** Draft of the new-loop form, in the browser's storage until it is submitted. */
const STORAGE_KEY = "loopgate.draft";

export interface Draft {
  prompt: string;
  repository: string;
  branch: string;
}

const EMPTY: Draft = { prompt: "", repository: "", branch: "" };

export function loadDraft(): Draft {
  try {
    const stored: unknown = JSON.parse(window.localStorage.getItem(STORAGE_KEY) ?? "null");
    const members = typeof stored === "object" && stored !== null ? stored : {};
    // Storage may contain a draft of another version: take over known members of the right type only.
    const texts = Object.entries(members).filter(
      ([name, value]) => Object.hasOwn(EMPTY, name) && typeof value === "string",
    );
    return { ...EMPTY, ...Object.fromEntries(texts) };
  } catch {
    return EMPTY;
  }
}

/** Stores the draft, or removes it when it has no prompt. */
export function saveDraft(draft: Draft): void {
  try {
    if (draft.prompt.trim() === "") window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, JSON.stringify(draft));
  } catch {
    // Storage is denied or full: the form is empty next time.
  }
}
