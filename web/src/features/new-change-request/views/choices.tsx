/** Choices of the form: plan first or implement now, the machine, and a ticket. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";

import { useScope } from "@/api/scope";
import type { ComputeTarget, Ticket } from "@/api/types";
import { Field, INPUT_CLASS } from "@/ui/field";
import { OnlineDot } from "@/ui/online-dot";

import type { RequestDraft } from "../model/request-draft";
import { openTicketsQuery } from "../queries";

interface Choice {
  value: string;
  label: ReactNode;
  detail?: string;
}

function Choices({
  legend,
  choices,
  value,
  onValue,
}: {
  legend: string;
  choices: Choice[];
  value: string;
  onValue: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="flex min-h-9 cursor-pointer items-center gap-2 rounded-md border border-line-strong/70 px-3 py-1 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-focus"
          >
            <input
              type="radio"
              name={name}
              className="sr-only"
              checked={value === choice.value}
              onChange={() => onValue(choice.value)}
            />
            <span>
              {choice.label}
              {choice.detail && <span className="block text-sm text-ink-3">{choice.detail}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const MODES: (Choice & { value: RequestDraft["mode"] })[] = [
  { value: "plan", label: "Plan first", detail: "You judge the plan, then execute it" },
  {
    value: "implement",
    label: "Implement now",
    detail: "The assistant plans and implements at once",
  },
];

export function ModeChoice({
  value,
  onValue,
}: {
  value: RequestDraft["mode"];
  onValue: (mode: RequestDraft["mode"]) => void;
}) {
  return (
    <Choices
      legend="Start"
      choices={MODES}
      value={value}
      onValue={(chosen) => onValue(chosen === "implement" ? "implement" : "plan")}
    />
  );
}

/** Selects the machine. Shown when at least two machines are online. */
export function MachineChoice({
  online,
  value,
  onValue,
}: {
  online: ComputeTarget[];
  value: string;
  onValue: (id: string) => void;
}) {
  if (online.length < 2) return null;
  const machines = online.map(({ id, machineName }) => ({
    value: id,
    label: (
      <span className="flex items-center gap-2">
        <OnlineDot online />
        <bdi>{machineName}</bdi>
      </span>
    ),
  }));
  return (
    <Choices
      legend="Machine"
      choices={[{ value: "", label: "Any available" }, ...machines]}
      value={value}
      onValue={onValue}
    />
  );
}

/** Selects an open ticket, whose document the loop works on. Shown when there are any. */
export function TicketChoice({
  value,
  onValue,
}: {
  /** Id of the ticket's document; empty for none. */
  value: string;
  onValue: (ticket: Ticket | undefined) => void;
}) {
  const { data: tickets = [] } = useQuery(openTicketsQuery(useScope()));
  if (tickets.length === 0) return null;
  return (
    <Field label="Ticket" hint="The loop works on the ticket. Its files cannot be extended.">
      {(control) => (
        <select
          {...control}
          value={tickets.some(({ id }) => id === value) ? value : ""}
          className={INPUT_CLASS}
          onChange={({ target }) => onValue(tickets.find(({ id }) => id === target.value))}
        >
          <option value="">None</option>
          {tickets.map(({ id, slug, title }) => (
            <option key={id} value={id}>
              {slug}: {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
