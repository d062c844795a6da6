/** All change requests, with a search that is part of the address. */
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useState } from "react";

import { exact } from "@/model/format";
import { Button, buttonClass } from "@/ui/button";
import { FilterChip } from "@/ui/filter-chip";
import { INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Panel } from "@/ui/panel";

import { parseSearch, VIEWS } from "../model/search";
import { useChangeRequests } from "../queries";
import { RequestList } from "./request-list";

const route = getRouteApi("/$orgSlug/work");
const SEARCH_DELAY_MS = 250;

export function WorkList() {
  usePageTitle("Work");
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const { q = "" } = route.useSearch();
  const search = (next: string) =>
    void navigate({ search: next === "" ? {} : { q: next }, resetScroll: false });
  // Deferred, so that the list stays on the page until the next one is loaded.
  const list = useChangeRequests(parseSearch(useDeferredValue(q)));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 max-md:flex-col max-md:flex-nowrap max-md:items-stretch">
        <div className="flex items-baseline gap-3">
          <h1 className="text-xl font-semibold tracking-tight">Work</h1>
          <p role="status" className="text-ink-3 tabular-nums">
            {exact(list.total)} {list.total === 1 ? "change request" : "change requests"}
          </p>
        </div>
        <SearchField />
      </div>
      <div
        role="group"
        aria-label="Views"
        className="mt-3 flex items-center gap-1.5 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 max-md:py-1 md:flex-wrap"
      >
        {VIEWS.map((view) => (
          <FilterChip
            key={view.name}
            pressed={q === view.search}
            onPress={() => search(q === view.search ? "" : view.search)}
          >
            {view.name}
          </FilterChip>
        ))}
      </div>
      <Panel className="mt-4 overflow-hidden">
        {list.total > 0 ? (
          <RequestList label="Change requests" list={list} orgSlug={orgSlug} showNeeds={false} />
        ) : q === "" ? (
          <EmptyState
            title="No change requests yet"
            action={
              <Link
                to="/$orgSlug/loops/new"
                params={{ orgSlug }}
                className={buttonClass("primary")}
              >
                New change request
              </Link>
            }
          >
            Describe a change and select a repository. The plan, the changes and the pull request
            appear here.
          </EmptyState>
        ) : (
          <EmptyState
            title="No change requests match the search"
            action={<Button onClick={() => search("")}>Clear the search</Button>}
          >
            Qualifiers: repo:owner/name, state:failed, is:mine, is:waiting, is:archived.
          </EmptyState>
        )}
      </Panel>
    </>
  );
}

/** Text and qualifiers to search for. */
function SearchField() {
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  // Undefined when the address contains the typed text.
  const [typed, setTyped] = useState<string>();
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      const search = typed === "" ? {} : { q: typed };
      void navigate({ search, replace: true, resetScroll: false }).then(() =>
        setTyped((text) => (text === typed ? undefined : text)),
      );
    }, SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [typed, navigate]);
  return (
    <input
      type="search"
      aria-label="Search change requests"
      placeholder="Search, repo:owner/name, is:mine"
      maxLength={300}
      value={typed ?? q}
      onChange={(event) => setTyped(event.target.value)}
      className={`${INPUT_CLASS} md:!w-80`}
    />
  );
}
