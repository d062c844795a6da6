/** Sanitizes the SVG of a diagram before it is inserted into the page. */
import DOMPurify from "dompurify";

import { styleNonce } from "@/ui/style-nonce";

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
  // Styles are taken out as text: the parser would apply the content security policy to them.
  const styles: string[] = [];
  const withoutStyles = svg.replace(/<style[^>]*>([^<]*)<\/style>/gi, (_, css: string) => {
    styles.push(css);
    return "";
  });
  const fragment = DOMPurify.sanitize(withoutStyles, {
    USE_PROFILES: { svg: true, svgFilters: true },
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
    RETURN_DOM_FRAGMENT: true,
  });
  const root = fragment.querySelector("svg");
  if (!root) return undefined;
  for (const element of [root, ...root.querySelectorAll("[style]")]) {
    const inline = element.getAttribute("style");
    if (inline) element.setAttribute("style", localStyles(inline));
  }
  root.prepend(...styles.map(styleElement));
  return root;
}

/** Creates a style element from the text between its tags. */
function styleElement(markup: string): Element {
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const css = new DOMParser().parseFromString(markup, "text/html").body.textContent;
  style.textContent = localStyles(css);
  // As an attribute, so that copies of the diagram have it.
  style.setAttribute("nonce", styleNonce());
  return style;
}

/** Removes imports and each `url(…)` that does not refer to the same document. */
export function localStyles(css: string): string {
  return css
    .replace(/@import[^;]*;?/gi, "")
    .replace(/url\(\s*(?!["']?#)[^)]*\)/gi, "none")
    .replace(/expression\s*\(|javascript:/gi, "");
}
