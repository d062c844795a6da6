/** The wish that is being written, kept by the browser until it is sent. */
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
    const texts = Object.entries(members).filter(
      ([name, value]) => Object.hasOwn(EMPTY, name) && typeof value === "string",
    );
    return { ...EMPTY, ...Object.fromEntries(texts) };
  } catch {
    return EMPTY;
  }
}

/** One without a wish is forgotten. */
export function saveDraft(draft: Draft): void {
  try {
    if (draft.prompt.trim() === "") window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, JSON.stringify(draft));
  } catch {
    // The form is then empty next time.
  }
}
