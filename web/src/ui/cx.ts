/** Joins class names. Omits `false` and `undefined`. */
export function cx(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
