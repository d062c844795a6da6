/** A request or plan: its text, versions and loops. */
import { useSuspenseQueries, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef } from "react";

import { useScope } from "@/api/scope";
import type { Document, DocumentVersion, Loop } from "@/api/types";
import { Markdown } from "@/markdown/markdown";
import { Outline } from "@/markdown/outline";
import { ago, moment } from "@/model/format";
import { humanise } from "@/model/status";
import { useNow } from "@/ui/clock";
import { CopyButton } from "@/ui/copy-button";
import { DocumentLink } from "@/ui/document-link";
import { INPUT_CLASS } from "@/ui/field";
import { LoopsLink } from "@/ui/loops-link";
import { usePageTitle } from "@/ui/page-title";
import { Panel } from "@/ui/panel";
import { Badge, StatusBadge } from "@/ui/status-badge";

import { documentQuery, documentVersionQuery } from "../queries";
import { ExecuteButton } from "./execute-button";

const TYPE_NAMES: Record<Document["type"], string> = {
  FEATURE: "Request",
  PRD: "Requirements",
  IMPLEMENTATION_PLAN: "Plan",
};

export function DocumentPage() {
  const scope = useScope();
  const { slug = "" } = useParams({ strict: false });
  const { data: document } = useSuspenseQuery(documentQuery(scope, slug));
  usePageTitle(document.title);
  return (
    <>
      <LoopsLink />
      <DocumentView key={document.id} document={document} orgSlug={scope.organization} />
    </>
  );
}

function DocumentView({ document, orgSlug }: { document: Document; orgSlug: string }) {
  const scope = useScope();
  const navigate = useNavigate();
  const { version } = useSearch({ strict: false });
  const article = useRef<HTMLElement>(null);
  const { versions, currentVersion } = document;
  const shown = version ?? currentVersion;
  // The document contains the text of its current version.
  const earlier = [shown].filter((version) => version !== currentVersion);
  const [older] = useSuspenseQueries({
    queries: earlier.map((version) => documentVersionQuery(scope, document.id, version)),
  });
  const { content } = older ? older.data : document;
  const choose = (chosen: number) =>
    void navigate({
      to: ".",
      search: chosen === currentVersion ? {} : { version: chosen },
      resetScroll: false,
    });
  return (
    <>
      <header className="mt-2 flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div className="min-w-0 flex-1 basis-96">
          <h1
            dir="auto"
            className="text-2xl font-semibold tracking-tight text-balance wrap-anywhere"
          >
            {document.title}
          </h1>
          <div className="mt-2 flex flex-wrap items-center gap-2.5 text-ink-2">
            <Badge tone="idle">{TYPE_NAMES[document.type]}</Badge>
            <span>{humanise(document.status)}</span>
            <span className="text-ink-3">{document.slug}</span>
          </div>
        </div>
        {document.type === "IMPLEMENTATION_PLAN" && (
          <div className="flex flex-wrap gap-2">
            <ExecuteButton
              plan={document}
              repo={document.repo}
              orgSlug={orgSlug}
              {...(shown !== currentVersion && {
                displayed: { version: shown, content },
              })}
            />
          </div>
        )}
      </header>
      <div className="mt-6 grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,56rem)_minmax(0,1fr)]">
        <Panel>
          <div className="flex items-center justify-end gap-2 border-b border-line py-1.5 pr-2 pl-4">
            <VersionSelect
              versions={versions}
              current={currentVersion}
              chosen={shown}
              onChoose={choose}
            />
            <CopyButton text={content} label="Copy as Markdown" />
          </div>
          <article
            ref={article}
            aria-label={TYPE_NAMES[document.type]}
            className="px-6 py-6 max-sm:px-4"
          >
            {content.trim() === "" ? (
              <p className="text-ink-3">This document is empty.</p>
            ) : (
              <Markdown text={content} />
            )}
          </article>
        </Panel>
        <div className="sticky top-6 space-y-8">
          <Origins document={document} orgSlug={orgSlug} />
          <DocumentLoops loops={document.loops} orgSlug={orgSlug} />
          <Outline article={article} text={content} />
        </div>
      </div>
    </>
  );
}

function VersionSelect({
  versions,
  current,
  chosen,
  onChoose,
}: {
  versions: DocumentVersion[];
  current: number;
  chosen: number;
  onChoose: (version: number) => void;
}) {
  if (versions.length < 2)
    return <span className="flex-1 text-sm text-ink-3">Version {current}</span>;
  return (
    <label className="flex flex-1 items-center gap-2 text-sm text-ink-3">
      Version
      <select
        value={chosen}
        onChange={(event) => onChoose(Number(event.target.value))}
        className={`${INPUT_CLASS} !h-7.5 !w-auto !px-2 text-sm text-ink`}
      >
        {[...versions]
          .sort((a, b) => b.version - a.version)
          .map(({ version, createdAt }) => (
            <option key={version} value={version}>
              {version}
              {version === current ? " (current)" : ""} · {moment(createdAt)}
            </option>
          ))}
      </select>
    </label>
  );
}

/** The document from which this one was created, and the plan that was created from it. */
function Origins({ document, orgSlug }: { document: Document; orgSlug: string }) {
  const { source, plan } = document;
  if (!source && !plan) return null;
  return (
    <dl className="space-y-3">
      {source && (
        <div>
          <dt className="text-xs font-medium text-ink-3">Created from</dt>
          <dd>
            <DocumentLink document={source} orgSlug={orgSlug} />
          </dd>
        </div>
      )}
      {plan && (
        <div>
          <dt className="text-xs font-medium text-ink-3">Plan</dt>
          <dd>
            <DocumentLink document={plan} orgSlug={orgSlug} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function DocumentLoops({ loops, orgSlug }: { loops: Loop[]; orgSlug: string }) {
  const now = useNow(30_000);
  return (
    <aside aria-label="Loops of this document">
      <h2 className="text-xs font-medium text-ink-3">Loops of this document</h2>
      {loops.length === 0 && <p className="mt-2 text-sm text-ink-2">No loops yet.</p>}
      <ul className="mt-2 space-y-1">
        {loops.map((loop) => (
          <li key={loop.id}>
            <Link
              to="/$orgSlug/loops/$loopId"
              params={{ orgSlug, loopId: loop.id }}
              className="-mx-2 flex items-center gap-2.5 rounded-md px-2 py-1.5 hover:bg-idle-soft"
            >
              <StatusBadge status={loop.status} />
              <span className="flex-1 font-medium">{humanise(loop.command)}</span>
              <span className="text-xs text-ink-3">{ago(loop.createdAt, now)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </aside>
  );
}
