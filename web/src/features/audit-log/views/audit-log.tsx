/** Log of security-relevant actions. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { membersQuery } from "@/api/queries";
import type { AuditAction, AuditEntry } from "@/api/types";
import { moment } from "@/model/format";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Row, Rows, Section } from "@/ui/section";

import { ACTIONS } from "../model/audit-actions";
import { auditLogQuery } from "../queries";

export function AuditLogPage() {
  usePageTitle("Audit log");
  const [action, setAction] = useState<AuditAction>();
  // Cursors of the visited pages, for the way back. The newest page has none.
  const [pages, setPages] = useState<(string | undefined)[]>([undefined]);
  const page = useQuery(auditLogQuery(action, pages.at(-1)));
  const members = useQuery(membersQuery);
  const entries = useQuery({
    ...auditLogQuery(action, pages.at(-1)),
    select: ({ entries }) => entries,
  });
  const nameOf = (id: string | null | undefined) => {
    const member = members.data?.find((member) => member.id === id);
    if (!member) return id ? "an unknown user" : "an unauthenticated caller";
    return [member.firstName, member.lastName].filter(Boolean).join(" ") || member.email;
  };
  const next = page.data?.nextBefore;
  return (
    <Section
      title="Audit log"
      about="Security-relevant actions. Entries cannot be changed or deleted."
      action={
        <select
          aria-label="Filter by action"
          value={action ?? ""}
          onChange={(event) => {
            setAction((event.target.value || undefined) as AuditAction | undefined);
            setPages([undefined]);
          }}
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
      <Rows query={entries} empty="No entries.">
        {(entry) => <EntryRow key={entry.id} entry={entry} actor={nameOf(entry.userId)} />}
      </Rows>
      <div className="flex gap-2">
        {pages.length > 1 && <Button onClick={() => setPages(pages.slice(0, -1))}>Newer</Button>}
        {next && <Button onClick={() => setPages([...pages, next])}>Older</Button>}
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
        <span className="font-medium">{ACTIONS[entry.action]}</span> by {actor}
      </p>
      <p className="text-sm break-words text-ink-3">
        {[entry.subject, ...details, entry.address].filter(Boolean).join("; ")}
      </p>
    </Row>
  );
}
