/**
 * Ref of a field that the person has opened, or that is created again while the person types: it gets the focus, with the
 * caret after its text.
 */
export function focusAtEnd(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  if (!field) return;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
