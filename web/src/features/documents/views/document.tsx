/** A request or plan: its text, versions and loops. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Suspense } from "react";

import { documentQuery } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { Document, Loop } from "@/api/types";
import { loadDrafts } from "@/drafts/draft-store";
import { ago } from "@/model/format";
import { humanise } from "@/model/status";
import { lazyPart, loadView } from "@/ui/lazy-view";
import { ChangeRequestLink } from "@/ui/change-request-link";
import { useNow } from "@/ui/clock";
import { DocumentLink } from "@/ui/document-link";
import { LoopsLink } from "@/ui/loops-link";
import { usePageTitle } from "@/ui/page-title";
import { Badge, StatusBadge } from "@/ui/status-badge";

import { draftPage } from "../model/draft-page";
import { TYPE_NAMES } from "../model/type-names";
import { DocumentSkeleton } from "./document-skeleton";

const DocumentText = lazyPart(() => import("./document-text"), "DocumentText");
const PlanStage = lazyPart(() => import("./plan-stage"), "PlanStage");

/** Loads what displays a document: its code, and the drafts on it. */
export async function loadDocumentView(scope: Scope, { id, type }: Document): Promise<void> {
  if (type === "IMPLEMENTATION_PLAN")
    await Promise.all([loadView(PlanStage), loadDrafts(scope, draftPage(id))]);
  else await loadView(DocumentText);
}

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
  const aside = (
    <>
      <Origins document={document} orgSlug={orgSlug} />
      <DocumentLoops loops={document.loops} orgSlug={orgSlug} />
    </>
  );
  return (
    <>
      <header className="mt-2">
        <h1 dir="auto" className="text-2xl font-semibold tracking-tight text-balance wrap-anywhere">
          {document.title}
        </h1>
        <div className="mt-2 flex flex-wrap items-center gap-2.5 text-ink-2">
          <Badge tone="idle">{TYPE_NAMES[document.type]}</Badge>
          <span>{humanise(document.status)}</span>
          <span className="text-ink-3">{document.slug}</span>
          <ChangeRequestLink slug={document.slug} orgSlug={orgSlug} />
        </div>
      </header>
      <div className="mt-6">
        <Suspense fallback={<DocumentSkeleton />}>
          {document.type === "IMPLEMENTATION_PLAN" ? (
            <PlanStage plan={document} orgSlug={orgSlug} aside={aside} />
          ) : (
            <DocumentText document={document} aside={aside} />
          )}
        </Suspense>
      </div>
    </>
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
