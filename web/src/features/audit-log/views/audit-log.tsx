/** Log of security-relevant actions. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { membersQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { AuditAction, AuditEntry } from "@/api/types";
import { moment } from "@/model/format";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Row, Rows, Section } from "@/ui/section";

import { ACTIONS } from "../model/audit-actions";
import { type AuditSearch, auditSearch } from "../model/audit-search";
import { auditLogQuery } from "../queries";

const route = getRouteApi("/$orgSlug/settings/audit-log");

export function AuditLogPage() {
  usePageTitle("Audit log");
  const scope = useScope();
  const { action, pages = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const {
    data: { entries, nextBefore },
  } = useSuspenseQuery(auditLogQuery(scope, action, pages.at(-1)));
  // Not awaited: entries are readable without the names.
  const members = useQuery(membersQuery(scope));
  const show = (search: AuditSearch) => void navigate({ search, resetScroll: false });
  const nameOf = (id: string | null | undefined) => {
    const member = members.data?.find((member) => member.id === id);
    if (!member) return id ? "an unknown user" : "an unauthenticated caller";
    return [member.firstName, member.lastName].filter(Boolean).join(" ") || member.email;
  };
  return (
    <Section
      title="Audit log"
      about="Security-relevant actions. Entries cannot be changed or deleted."
      action={
        <select
          aria-label="Filter by action"
          value={action ?? ""}
          onChange={(event) =>
            show(event.target.value ? { action: event.target.value as AuditAction } : {})
          }
          className={`${INPUT_CLASS} !w-auto`}
        >
          <option value="">All actions</option>
          {Object.entries(ACTIONS).map(([key, label]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      <Rows items={entries} empty="No entries.">
        {(entry) => <EntryRow key={entry.id} entry={entry} actor={nameOf(entry.userId)} />}
      </Rows>
      <div className="flex gap-2">
        {pages.length > 0 && (
          <Button onClick={() => show(auditSearch({ action, pages: pages.slice(0, -1) }))}>
            Newer
          </Button>
        )}
        {nextBefore && (
          <Button onClick={() => show(auditSearch({ action, pages: [...pages, nextBefore] }))}>
            Older
          </Button>
        )}
      </div>
    </Section>
  );
}

function EntryRow({ entry, actor }: { entry: AuditEntry; actor: string }) {
  const members = Object.entries(entry.details as Record<string, unknown>).filter(
    ([, value]) => value !== null,
  );
  const details = members.map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return (
    <Row actions={<time className="text-sm text-ink-3">{moment(entry.at)}</time>}>
      <p>
        <span className="font-medium">{ACTIONS[entry.action]}</span> by <bdi>{actor}</bdi>
      </p>
      <p dir="auto" className="text-sm break-words text-ink-3">
        {[entry.subject, ...details, entry.address].filter(Boolean).join("; ")}
      </p>
    </Row>
  );
}
