import { Paperclip } from "lucide-react";
import { type ReactNode, useRef } from "react";

import type { Document } from "@/api/types";
import { Markdown } from "@/markdown/markdown";
import { Outline } from "@/markdown/outline";
import { fileSize } from "@/model/format";
import { CopyButton } from "@/ui/copy-button";
import { Panel } from "@/ui/panel";

import { TYPE_NAMES } from "../model/type-names";
import { useVersions } from "../model/use-versions";
import { VersionSelect } from "./version-select";

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
        {document.attachments.length > 0 && (
          <ul
            aria-label="Attached files"
            className="flex flex-wrap gap-x-5 gap-y-1 border-t border-line px-6 py-3 text-sm max-sm:px-4"
          >
            {document.attachments.map(({ id, filename, sizeBytes }) => (
              <li key={id} className="flex max-w-full items-center gap-1.5">
                <Paperclip aria-hidden className="size-3.5 shrink-0 text-ink-3" />
                <bdi className="truncate">{filename}</bdi>
                <span className="text-ink-3">{fileSize(sizeBytes)}</span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <div className="sticky top-20 space-y-8">
        {aside}
        <Outline article={article} text={shown.content} />
      </div>
    </div>
  );
}
