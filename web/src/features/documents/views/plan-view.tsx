import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";

import { documentQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { Markdown } from "@/markdown/markdown";
import { Outline } from "@/markdown/outline";
import { CopyButton } from "@/ui/copy-button";
import { ErrorView } from "@/ui/error-view";
import { Panel } from "@/ui/panel";

import { DocumentSkeleton } from "./document-skeleton";

/** Plan tab of a loop's page. */
export function PlanView({ slug, orgSlug }: { slug: string; orgSlug: string }) {
  const scope = useScope();
  const { data: document, error, refetch } = useQuery(documentQuery(scope, slug));
  const article = useRef<HTMLElement>(null);
  if (error && !document) return <ErrorView error={error} onRetry={() => void refetch()} />;
  if (!document) return <DocumentSkeleton />;
  return (
    <div className="grid grid-cols-1 items-start gap-x-10 lg:grid-cols-[minmax(0,56rem)_14rem]">
      <Panel>
        <div className="flex items-center gap-2 border-b border-line py-1.5 pr-2 pl-6 max-sm:pl-4">
          <Link
            to="/$orgSlug/implementation-plans/$slug"
            params={{ orgSlug, slug: document.slug }}
            className="flex-1 truncate text-sm text-ink-3 hover:text-ink"
          >
            {document.slug} · version {document.currentVersion}
          </Link>
          <CopyButton text={document.content} label="Copy as Markdown" />
        </div>
        <article ref={article} aria-label="Plan" className="px-6 py-6 max-sm:px-4">
          <Markdown text={document.content} />
        </article>
      </Panel>
      <div className="sticky top-6">
        <Outline article={article} text={document.content} />
      </div>
    </div>
  );
}
