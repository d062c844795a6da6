/**
 * Characters that are not visible in a file name, or change the order of the others: with them, a name can look like that
 * of another file.
 */
const HIDDEN = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|^ | $/gu;

/** Returns a file name with marks in place of characters that are not visible, for example `[U+202E]`. */
export const visibleName = (name: string): string =>
  name.replaceAll(HIDDEN, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });

/** Returns whether a text contains characters that change the order in which the others are displayed. */
export const hasDirectionControls = (text: string): boolean =>
  /[\u202a-\u202e\u2066-\u2069]/u.test(text);
