/** Texts to begin a request with: few built-in ones, and those that a person stores in this browser. */
import { useState } from "react";

import { titleOf } from "@/model/title";

export interface Template {
  name: string;
  text: string;
}

export const BUILT_IN: readonly Template[] = [
  {
    name: "Fix a bug",
    text: "What happens:\n\nWhat should happen:\n\nHow to reproduce it:\n\nCover it with a test that fails before the fix.",
  },
  {
    name: "Add tests",
    text: "Add tests for:\n\nCover the error cases as well. Do not change the code that is tested, except to fix defects that the tests show; name each of them in the description of the pull request.",
  },
  {
    name: "Upgrade a dependency",
    text: "Upgrade this dependency to its newest version:\n\nRead its changelog, adapt the code to what changed, and list the breaking changes in the description of the pull request.",
  },
];

/** Longest name, in characters. */
const MAX_NAME_CHARS = 60;

/** Adds a template for a text, or replaces the one of the same name. */
export function withTemplate(templates: Template[], text: string): Template[] {
  const name = titleOf(text).slice(0, MAX_NAME_CHARS).trim();
  if (name === "") return templates;
  return [...templates.filter((other) => other.name !== name), { name, text }];
}

/** Begins a text with a template. What was written before is kept. */
export const applyTemplate = (written: string, { text }: Template): string =>
  written.trim() === "" ? text : `${written.trimEnd()}\n\n${text}`;

function read(key: string): Template[] {
  try {
    const stored: unknown = JSON.parse(window.localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isTemplate) : [];
  } catch {
    // Storage is denied, or its content is not ours.
    return [];
  }
}

const isTemplate = (value: unknown): value is Template =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  typeof value.name === "string" &&
  "text" in value &&
  typeof value.text === "string";

/**
 * The templates that a person stored in this browser, for one organization. `isStored` is false if the browser stores
 * nothing: they last as long as the page.
 */
export function useTemplates(person: string, organization: string) {
  const key = `loopgate.templates.${person}.${organization}`;
  const [templates, setTemplates] = useState(() => read(key));
  const [isStored, setIsStored] = useState(true);
  const store = (next: Template[]) => {
    setTemplates(next);
    try {
      window.localStorage.setItem(key, JSON.stringify(next));
      setIsStored(true);
    } catch {
      setIsStored(false);
    }
  };
  return {
    templates,
    isStored,
    add: (text: string) => store(withTemplate(templates, text)),
    remove: (name: string) => store(templates.filter((template) => template.name !== name)),
  };
}
