/** The list of change requests in groups, each with its number and its own pages. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Suspense, useId, useState } from "react";

import { useScope } from "@/api/scope";
import type { ChangeRequestGroup, ChangeState } from "@/api/types";
import { exact } from "@/model/format";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/panel";

import type { ChangeRequestFilters } from "../model/search";
import { stateFacts } from "../model/states";
import type { Grouping } from "../model/work-address";
import { groupsQuery, useChangeRequests } from "../queries";
import type { ListActions } from "./list-actions";
import { RequestList } from "./request-list";

// Groups that are open at first. Each requests a page of its own.
const OPEN_GROUPS = 6;

interface GroupedListProps {
  filters: ChangeRequestFilters;
  by: Grouping;
  orgSlug: string;
  actions: ListActions;
}

export function GroupedList({ filters, by, orgSlug, actions }: GroupedListProps) {
  const { data: groups } = useSuspenseQuery(groupsQuery(useScope(), filters, by));
  return groups.map((group, at) => (
    <Group
      key={`${by} ${group.value}`}
      group={group}
      isOpenAtFirst={at < OPEN_GROUPS}
      filters={{ ...filters, ...filterOf(by, group.value) }}
      by={by}
      orgSlug={orgSlug}
      actions={actions}
    />
  ));
}

function filterOf(by: Grouping, value: string): ChangeRequestFilters {
  switch (by) {
    case "state":
      return { state: [value as ChangeState] };
    case "repository":
      return { repo: value };
    case "person":
      return { person: value };
  }
}

function nameOf(by: Grouping, { value, name }: ChangeRequestGroup): string {
  if (by === "state") return stateFacts(value as ChangeState).label;
  return name === "" ? "No repository" : name;
}

function Group({
  group,
  isOpenAtFirst,
  filters,
  by,
  orgSlug,
  actions,
}: GroupedListProps & { group: ChangeRequestGroup; isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const id = useId();
  const name = nameOf(by, group);
  return (
    <section aria-labelledby={id} className="border-line not-last:border-b">
      <h2 id={id}>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex w-full items-center gap-2 bg-sunken px-4 py-2 text-left text-sm font-medium hover:text-ink"
        >
          <ChevronRight
            aria-hidden
            className={cx("size-3.5 transition-transform", isOpen && "rotate-90")}
          />
          <span dir="auto" className="min-w-0 truncate">
            {name}
          </span>
          <span className="text-ink-3 tabular-nums">{exact(group.count)}</span>
        </button>
      </h2>
      {isOpen && (
        <Suspense fallback={<Skeleton className="mx-4 my-3 h-4 w-2/3" />}>
          <GroupRows label={name} filters={filters} orgSlug={orgSlug} actions={actions} />
        </Suspense>
      )}
    </section>
  );
}

function GroupRows({
  label,
  filters,
  orgSlug,
  actions,
}: Omit<GroupedListProps, "by"> & { label: string }) {
  const list = useChangeRequests(filters);
  return (
    <RequestList label={label} list={list} orgSlug={orgSlug} actions={actions} showNeeds={false} />
  );
}
