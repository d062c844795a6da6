/** Images that a page displays. SVG is not among them: it is text, and may contain scripts. */

const KINDS = [
  { extension: /\.png$/i, type: "image/png", start: "iVBORw0KGgo" },
  { extension: /\.jpe?g$/i, type: "image/jpeg", start: "/9j/" },
  { extension: /\.gif$/i, type: "image/gif", start: "R0lGOD" },
  { extension: /\.webp$/i, type: "image/webp", start: "UklGR" },
];

/** Returns whether a file has the name of an image. */
export const isImagePath = (path: string): boolean =>
  KINDS.some(({ extension }) => extension.test(path));

/** Returns the address of an image from its content in Base64. `undefined` for what is no image. */
export function imageAddress(content: string): string | undefined {
  const kind = KINDS.find(({ start }) => content.startsWith(start));
  return kind && `data:${kind.type};base64,${content}`;
}

/** Returns the number of bytes that a text in Base64 encodes. */
export const byteCount = (base64: string): number =>
  Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
