/** Returns 128 bits of a text's content as hexadecimal digits. Not cryptographic, so that it is synchronous. */
function digest(text: string): string {
  return [1, 2, 3, 4]
    .map((seed) => {
      let hash = Math.imul(seed, 0x9e3779b1);
      for (let index = 0; index < text.length; index++)
        hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193 + seed * 2);
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
      return (hash ^ (hash >>> 13)) >>> 0;
    })
    .map((part) => part.toString(16).padStart(8, "0"))
    .join("");
}

/** Returns the same UUID for the same text. */
export function contentId(text: string): string {
  const hex = digest(text);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    // Version 8: a UUID whose content is defined by the application.
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}
