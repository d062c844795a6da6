/** Syntax of GitHub for Markdown: `remark-gfm` without the serializer, which is a fifth of the code of the renderer. */
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type {} from "remark-parse";
import type { Processor } from "unified";

export function gfmSyntax(this: Processor): void {
  const data = this.data();
  (data.micromarkExtensions ??= []).push(gfm());
  (data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown());
}
