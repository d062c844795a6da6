/** Page of a new change request: the form, what it permits, and what happens next. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { documentQuery, meQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { type Scope, useScope } from "@/api/scope";
import { loadDrafts } from "@/drafts/draft-store";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { emptyRequest, type RequestDraft, requestOf } from "../model/request-draft";
import { selectedQuery } from "../queries";
import { NextSteps } from "./next-steps";
import { RequestForm } from "./request-form";

const route = getRouteApi("/$orgSlug/new");

const TITLE = "New change request";

/** Loads the drafts of the form, and the change request whose values it gets. */
export async function loadForm(scope: Scope, from: string | undefined): Promise<void> {
  await Promise.all([loadDrafts(scope, "new"), from !== undefined && loadOrigin(scope, from)]);
}

async function loadOrigin(scope: Scope, slug: string): Promise<void> {
  const { loops } = await ensure(documentQuery(scope, slug));
  await ensure(selectedQuery(scope, loops.at(-1)?.id));
}

/** `setUp`: what the machine lacks for loops, if anything. */
export function NewChangeRequest({ setUp }: { setUp: ReactNode }) {
  usePageTitle(TITLE);
  const { from } = route.useSearch();
  const [mode, setMode] = useState<Mode>("plan");
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-1 gap-x-14 gap-y-10 lg:grid-cols-[minmax(0,1fr)_15rem]">
      <div>
        <h1 className="text-xl font-semibold tracking-tight">{TITLE}</h1>
        <div className="mt-5 empty:hidden">{setUp}</div>
        {from === undefined ? (
          <NewRequest onMode={setMode} />
        ) : (
          <SameAgain key={from} slug={from} onMode={setMode} />
        )}
      </div>
      <NextSteps mode={mode} />
    </div>
  );
}

type Mode = RequestDraft["mode"];

function NewRequest({ onMode }: { onMode: (mode: Mode) => void }) {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const { demonstration } = me;
  const initial: RequestDraft = {
    ...emptyRequest(),
    ...(demonstration && { prompt: demonstration.request, repository: demonstration.repository }),
  };
  return (
    <>
      {demonstration && (
        <div className="mt-5">
          <Notice title="This is a demonstration">
            The assistant, git, the worktree, the commits and the program of the code host are real.
            The model follows a script, which implements only the request below; repository and code
            host are on this machine, and nothing leaves it.
          </Notice>
        </div>
      )}
      <RequestForm field="request" initial={initial} onMode={onMode} />
    </>
  );
}

/** The form with the values of an existing change request. */
function SameAgain({ slug, onMode }: { slug: string; onMode: (mode: Mode) => void }) {
  const { orgSlug } = route.useParams();
  const scope = useScope();
  const { data: document } = useSuspenseQuery(documentQuery(scope, slug));
  const { data: first } = useSuspenseQuery(selectedQuery(scope, document.loops.at(-1)?.id));
  const files = document.attachments.length;
  return (
    <>
      <div className="mt-5">
        <Notice title="Again with changes">
          The form has the values of{" "}
          <Link
            to="/$orgSlug/work/$slug"
            params={{ orgSlug, slug }}
            className="text-accent underline"
          >
            <bdi>{document.title}</bdi>
          </Link>
          , which stays as it is.
          {files > 0 &&
            (files === 1
              ? " Its file is not copied: attach it again."
              : ` Its ${files} files are not copied: attach them again.`)}
        </Notice>
      </div>
      <RequestForm
        field={`again ${slug}`}
        initial={requestOf(document, first ?? undefined)}
        onMode={onMode}
      />
    </>
  );
}
