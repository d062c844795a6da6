/** Highlights passages of the page, in browsers with the CSS Custom Highlight API. */

/** Names in styles.css: passages with comments, and the passage of the focused action. */
type HighlightName = "plan-comments" | "plan-passage";

export function highlight(name: HighlightName, ranges: Range[]): void {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}
