/** Anchors of passages in a rendered document. They survive another rendering and changes of the text around them. */

export interface PassageAnchor {
  /** Text of the passage. White space is collapsed. */
  quote: string;
  /** Text before the passage, which distinguishes equal passages. */
  before: string;
  /** Texts of the headings above the passage, the outermost first, without the title. */
  headings: string[];
}

const CONTEXT_CHARS = 40;
const HEADINGS = "h2, h3, h4, h5, h6";
const BLOCKS = "h1, h2, h3, h4, h5, h6, p, li, td, th, pre, blockquote";
// Diagrams are rendered later than the text, and controls are no text.
const EXCLUDED = "svg, button";

/** Text of an element with collapsed white space, and where each of its characters is. */
interface TextIndex {
  text: string;
  nodes: Text[];
  /** For each character: index of its node, and its offset in the node. */
  places: [node: number, offset: number][];
}

function indexOf(root: Element): TextIndex {
  const index: TextIndex = { text: "", nodes: [], places: [] };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let block: Element | null | undefined;
  let isSpace = true;
  const add = (character: string, place: [number, number]) => {
    const isNext = /\s/.test(character);
    if (!(isNext && isSpace)) {
      index.text += isNext ? " " : character;
      index.places.push(place);
    }
    isSpace = isNext;
  };
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (node.parentElement?.closest(EXCLUDED)) continue;
    const at = index.nodes.push(node) - 1;
    const own = node.parentElement?.closest(BLOCKS);
    // Before the first character of the node: the separator belongs to no selection.
    if (own !== block) add(" ", [at, -1]);
    block = own;
    for (let offset = 0; offset < node.data.length; offset += 1)
      add(node.data.charAt(offset), [at, offset]);
  }
  return index;
}

/** Returns the first and the last character of a range. */
function charactersOf({ nodes, places }: TextIndex, range: Range): [number, number] | undefined {
  const selected = nodes.map((node) => {
    if (!range.intersectsNode(node)) return undefined;
    const start = node === range.startContainer ? range.startOffset : 0;
    const end = node === range.endContainer ? range.endOffset : node.length;
    return { start, end };
  });
  const isInside = ([at, offset]: [number, number]) => {
    const part = selected[at];
    return part !== undefined && offset >= part.start && offset < part.end;
  };
  const first = places.findIndex(isInside);
  return first < 0 ? undefined : [first, places.findLastIndex(isInside)];
}

function headingsAbove(root: Element, node: Node): string[] {
  const open: Element[] = [];
  for (const heading of root.querySelectorAll(HEADINGS)) {
    const isAbove =
      heading.contains(node) ||
      node.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_PRECEDING;
    if (!isAbove) break;
    while (open.length > 0 && (open.at(-1)?.tagName ?? "") >= heading.tagName) open.pop();
    open.push(heading);
  }
  return open.map(({ textContent }) => textContent.trim());
}

/** Returns the anchor of a range in `root`. Undefined for a range without text. */
export function anchorOf(root: Element, range: Range): PassageAnchor | undefined {
  const index = indexOf(root);
  const characters = charactersOf(index, range);
  if (!characters) return undefined;
  const [first, last] = characters;
  const quote = index.text.slice(first, last + 1).trim();
  const node = index.nodes[index.places[first]?.[0] ?? 0];
  if (quote === "" || !node) return undefined;
  const before = index.text.slice(Math.max(0, first - CONTEXT_CHARS), first);
  return { quote, before, headings: headingsAbove(root, node) };
}

/**
 * Returns the ranges of anchors in `root`, undefined for passages that it does not contain. Of equal passages, that
 * below the same headings is preferred, then that with the same text before it.
 */
export function rangesOf(root: Element, anchors: PassageAnchor[]): (Range | undefined)[] {
  const index = indexOf(root);
  return anchors.map((anchor) => {
    const [best] = occurrences(index.text, anchor.quote)
      .map((start) => ({ start, rank: rank(root, index, start, anchor) }))
      .sort((one, other) => other.rank - one.rank);
    return best && rangeAt(index, best.start, best.start + anchor.quote.length - 1);
  });
}

/**
 * Returns the range of quoted words in `root`. The words may be in Markdown, which is rendered without its marks; `…` or
 * `...` stands for any words between the parts around it.
 */
export function quotedRange(root: Element, quote: string): Range | undefined {
  const index = indexOf(root);
  const characters = wordCharacters(index.text);
  const text = characters.map((position) => index.text.charAt(position)).join("");
  const parts = quote
    .split(/…|\.\.\./)
    .map((part) =>
      wordCharacters(part)
        .map((position) => part.charAt(position))
        .join(""),
    )
    .filter((part) => part !== "");
  let [first, end] = [-1, 0];
  for (const part of parts) {
    const start = text.indexOf(part, end);
    if (start < 0) return undefined;
    if (first < 0) first = start;
    end = start + part.length;
  }
  const [from, to] = [characters[first], characters[end - 1]];
  return from === undefined || to === undefined ? undefined : rangeAt(index, from, to);
}

/** Returns the positions of letters and digits, which marks and white space of Markdown do not change. */
function wordCharacters(text: string): number[] {
  const positions: number[] = [];
  for (let at = 0; at < text.length; at += 1)
    if (/[\p{L}\p{N}\p{Cs}]/u.test(text.charAt(at))) positions.push(at);
  return positions;
}

function occurrences(text: string, quote: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) found.push(at);
  return found;
}

function rank(
  root: Element,
  { text, nodes, places }: TextIndex,
  start: number,
  { before, headings }: PassageAnchor,
): number {
  const node = nodes[places[start]?.[0] ?? 0];
  const isSection = node && headingsAbove(root, node).join("\n") === headings.join("\n");
  let shared = 0;
  while (shared < before.length && before.at(-1 - shared) === text[start - 1 - shared]) shared += 1;
  return (isSection ? CONTEXT_CHARS + 1 : 0) + shared;
}

function rangeAt({ nodes, places }: TextIndex, first: number, last: number): Range | undefined {
  const [start, end] = [places[first], places[last]];
  const [startNode, endNode] = [start && nodes[start[0]], end && nodes[end[0]]];
  if (!start || !end || !startNode || !endNode) return undefined;
  const range = document.createRange();
  range.setStart(startNode, start[1]);
  range.setEnd(endNode, end[1] + 1);
  return range;
}
