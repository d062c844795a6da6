/** All change requests, with a search and a grouping that are part of the address. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue } from "react";

import { membersQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { exact } from "@/model/format";
import { Button, buttonClass } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { useListShortcuts } from "@/ui/list-shortcuts";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Panel } from "@/ui/panel";
import { SearchField } from "@/ui/search-field";

import { parseSearch, withPerson } from "../model/search";
import { STATES } from "../model/states";
import { type Grouping, GROUPINGS, toSaved, workAddress } from "../model/work-address";
import { firstPageQuery, useChangeRequests } from "../queries";
import { GroupedList } from "./grouped-list";
import { ListBars, useListActions } from "./list-actions";
import { RequestList } from "./request-list";
import { ViewBar } from "./view-bar";

const route = getRouteApi("/$orgSlug/work");

export function WorkList() {
  usePageTitle("Work");
  useListShortcuts("change requests");
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const address = route.useSearch();
  // Deferred, so that the list stays on the page until the next one is loaded.
  const { q = "", group } = useDeferredValue(address);
  const filters = parseSearch(q);
  const list = useChangeRequests(filters);
  const actions = useListActions(toSaved({ q, ...(group && { group }) }));
  const clear = () => void navigate({ search: workAddress({ group }), resetScroll: false });
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 max-md:flex-col max-md:flex-nowrap max-md:items-stretch">
        <div className="flex items-baseline gap-3">
          <h1 className="text-xl font-semibold tracking-tight">Work</h1>
          <p role="status" className="text-ink-3 tabular-nums">
            {exact(list.total)} {list.total === 1 ? "change request" : "change requests"}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <SelectPerson />
          <SelectGrouping />
          <SearchField
            label="Search change requests"
            placeholder="Search, repo:owner/name, is:mine"
            maxLength={300}
            text={address.q ?? ""}
            onSearch={(text) =>
              navigate({
                search: (current) => workAddress({ ...current, q: text }),
                replace: true,
                resetScroll: false,
              })
            }
            className="md:!w-80"
          />
        </div>
      </div>
      <ViewBar
        address={address}
        onSelect={(view) => void navigate({ search: view, resetScroll: false })}
      />
      <Panel className="mt-4 overflow-hidden">
        {list.total > 0 ? (
          group ? (
            <GroupedList filters={filters} by={group} orgSlug={orgSlug} actions={actions} />
          ) : (
            <RequestList
              label="Change requests"
              list={list}
              orgSlug={orgSlug}
              actions={actions}
              showNeeds={false}
            />
          )
        ) : q === "" ? (
          <NothingListed orgSlug={orgSlug} />
        ) : (
          <EmptyState
            title={
              q === "is:archived"
                ? "No archived change requests"
                : "No change requests match the search"
            }
            action={<Button onClick={clear}>Clear the search</Button>}
          >
            Qualifiers: repo:owner/name, person:ada@example.org, state:failed, is:mine, is:waiting,
            is:archived.
            {filters.text?.includes("state:") && ` States: ${STATES.join(", ")}.`}
          </EmptyState>
        )}
      </Panel>
      <ListBars actions={actions} />
    </>
  );
}

function NothingListed({ orgSlug }: { orgSlug: string }) {
  const { data: archived } = useQuery(firstPageQuery(useScope(), { archived: true }));
  const hasArchived = (archived?.total ?? 0) > 0;
  return (
    <EmptyState
      title={hasArchived ? "All change requests are archived" : "No change requests yet"}
      action={
        <Link to="/$orgSlug/new" params={{ orgSlug }} className={buttonClass("primary")}>
          New change request
        </Link>
      }
    >
      {hasArchived
        ? "The view Archived lists them."
        : "Describe a change and select a repository. The plan, the changes and the pull request appear here."}
    </EmptyState>
  );
}

function SelectGrouping() {
  const { group = "" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <select
      aria-label="Group by"
      value={group}
      onChange={({ target }) =>
        void navigate({
          search: (current) => workAddress({ ...current, group: target.value }),
          resetScroll: false,
        })
      }
      className={`${INPUT_CLASS} !w-auto`}
    >
      <option value="">No groups</option>
      {(Object.keys(GROUPINGS) as Grouping[]).map((grouping) => (
        <option key={grouping} value={grouping}>
          By {GROUPINGS[grouping].toLowerCase()}
        </option>
      ))}
    </select>
  );
}

/** Selects whose change requests are listed, if there are several members. */
function SelectPerson() {
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: members = [] } = useQuery({ ...membersQuery(useScope()), staleTime: 60_000 });
  const { person = "" } = parseSearch(q);
  if (members.length < 2) return null;
  const isListed = person === "" || members.some(({ email }) => email === person);
  return (
    <select
      aria-label="Person"
      value={person}
      onChange={({ target: { value } }) =>
        void navigate({
          search: (current) =>
            workAddress({ ...current, q: withPerson(q, value === "" ? undefined : value) }),
          resetScroll: false,
        })
      }
      className={`${INPUT_CLASS} !w-auto max-w-48`}
    >
      <option value="">Everyone</option>
      {!isListed && <option value={person}>{person}</option>}
      {members.map(({ id, email, firstName, lastName }) => (
        <option key={id} value={email}>
          {[firstName, lastName].filter(Boolean).join(" ") || email}
        </option>
      ))}
    </select>
  );
}
