/** Adds a note in front of the others; blank notes are not kept. */
export function withNote(notes, text, day) {
  const trimmed = text.trim();
  return trimmed === "" ? notes : [{ text: trimmed, day }, ...notes];
}
