/**
 * Ref of a field that the person has opened: it gets the focus, with the caret after its text. Not while the person types
 * in another field: the diff also creates a field that is scrolled into view.
 */
export function focusAtEnd(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  if (!field || document.activeElement?.matches("input, textarea")) return;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
