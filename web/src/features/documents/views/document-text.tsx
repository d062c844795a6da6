import { type ReactNode, useRef } from "react";

import type { Document } from "@/api/types";
import { Markdown } from "@/markdown/markdown";
import { Outline } from "@/markdown/outline";
import { CopyButton } from "@/ui/copy-button";
import { Panel } from "@/ui/panel";

import { useVersions } from "../model/use-versions";
import { VersionSelect } from "./version-select";

export const TYPE_NAMES: Record<Document["type"], string> = {
  FEATURE: "Request",
  PRD: "Requirements",
  IMPLEMENTATION_PLAN: "Plan",
};

/** A document that is not a plan: it is read only. */
export function DocumentText({ document, aside }: { document: Document; aside?: ReactNode }) {
  const article = useRef<HTMLElement>(null);
  const { shown, show } = useVersions(document);
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,56rem)_minmax(0,1fr)]">
      <Panel>
        <div className="flex items-center justify-end gap-2 border-b border-line py-1.5 pr-2 pl-4">
          <VersionSelect
            versions={document.versions}
            current={document.currentVersion}
            chosen={shown.version}
            onChoose={(version) => show({ version })}
          />
          <CopyButton text={shown.content} label="Copy as Markdown" />
        </div>
        <article
          ref={article}
          aria-label={TYPE_NAMES[document.type]}
          dir="auto"
          className="px-6 py-6 max-sm:px-4"
        >
          {shown.content.trim() === "" ? (
            <p className="text-ink-3">This document is empty.</p>
          ) : (
            <Markdown text={shown.content} />
          )}
        </article>
      </Panel>
      <div className="sticky top-20 space-y-8">
        {aside}
        <Outline article={article} text={shown.content} />
      </div>
    </div>
  );
}
