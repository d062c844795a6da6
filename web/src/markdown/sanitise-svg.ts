/** Sanitizes the SVG of a diagram before it is inserted into the page. */
import DOMPurify from "dompurify";

const FORBIDDEN_TAGS = [
  "a",
  "image",
  "img",
  "script",
  "foreignObject",
  "iframe",
  "object",
  "embed",
  "form",
  "link",
  "meta",
  "base",
  "video",
  "audio",
  "source",
  "use",
  "animate",
  "set",
];

const FORBIDDEN_ATTRIBUTES = [
  "href",
  "xlink:href",
  "srcset",
  "poster",
  "background",
  "ping",
  "formaction",
  "action",
];

/** Removes scripts, links, images and all external references. Returns `undefined` without an `<svg>`. */
export function sanitiseSvg(svg: string): SVGSVGElement | undefined {
  const fragment = DOMPurify.sanitize(svg, {
    USE_PROFILES: { svg: true, svgFilters: true },
    ADD_TAGS: ["style"],
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
    RETURN_DOM_FRAGMENT: true,
  });
  const root = fragment.querySelector("svg");
  if (!root) return undefined;
  for (const style of root.querySelectorAll("style"))
    style.textContent = localStyles(style.textContent);
  for (const element of [root, ...root.querySelectorAll("[style]")]) {
    const inline = element.getAttribute("style");
    if (inline) element.setAttribute("style", localStyles(inline));
  }
  return root;
}

/** Removes imports and each `url(…)` that does not refer to the same document. */
export function localStyles(css: string): string {
  return css
    .replace(/@import[^;]*;?/gi, "")
    .replace(/url\(\s*(?!["']?#)[^)]*\)/gi, "none")
    .replace(/expression\s*\(|javascript:/gi, "");
}
