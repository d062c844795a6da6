/** Settings of the organization: limits and feature flags. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { featureFlagsQuery, meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { OrganizationSettings } from "@/api/types";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Section } from "@/ui/section";

import {
  organizationSettingsQuery,
  useSetFeatureFlag,
  useSetOrganizationSettings,
} from "../queries";

const FLAGS: Record<string, string> = {
  "mermaid-enhancements": "Zoom, pan and download diagrams in plans",
};

export function OrganizationPage() {
  const scope = useScope();
  usePageTitle("Organization");
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const { data: settings } = useSuspenseQuery(organizationSettingsQuery(scope));
  const isAdmin = me.role === "org:admin";
  return (
    <>
      <Section
        title={me.organization.name}
        about={isAdmin ? undefined : "Only administrators can change these settings."}
      >
        <LimitsForm settings={settings} isAdmin={isAdmin} />
      </Section>
      <Features isAdmin={isAdmin} />
    </>
  );
}

// Conversion between a limit and its input field. A blank field means no limit of the organization.
const toText = (value: number | null | undefined) => (value == null ? "" : String(value));
const toLimit = (text: string) => (text.trim() === "" ? null : Number(text));

function LimitsForm({ settings, isAdmin }: { settings: OrganizationSettings; isAdmin: boolean }) {
  const { maxConcurrentLoops, spendingLimits } = settings;
  const [loops, setLoops] = useState(toText(maxConcurrentLoops));
  const [perLoop, setPerLoop] = useState(toText(spendingLimits.perLoopUsd));
  const [perDay, setPerDay] = useState(toText(spendingLimits.perDayUsd));
  const [perMonth, setPerMonth] = useState(toText(spendingLimits.perMonthUsd));
  const save = useSetOrganizationSettings();
  const fields = [
    ["Concurrent loops per user", "Blank: 10", "1", loops, setLoops],
    ["Spending limit per loop", "US dollars; blank: no limit", "0.01", perLoop, setPerLoop],
    ["Spending limit per day, all loops", "US dollars; blank: no limit", "0.01", perDay, setPerDay],
    [
      "Spending limit per month, all loops",
      "US dollars; blank: no limit",
      "0.01",
      perMonth,
      setPerMonth,
    ],
  ] as const;
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({
          maxConcurrentLoops: toLimit(loops),
          spendingLimits: {
            perLoopUsd: toLimit(perLoop),
            perDayUsd: toLimit(perDay),
            perMonthUsd: toLimit(perMonth),
          },
        });
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {fields.map(([label, hint, step, value, onValue]) => (
          <Field key={label} label={label} hint={hint}>
            {(control) => (
              <input
                {...control}
                type="number"
                min={step === "1" ? 1 : 0}
                step={step}
                disabled={!isAdmin}
                value={value}
                onChange={(event) => onValue(event.target.value)}
                className={INPUT_CLASS}
              />
            )}
          </Field>
        ))}
      </div>
      {save.error && (
        <p role="alert" className="text-bad">
          {messageOf(save.error)}
        </p>
      )}
      {isAdmin && (
        <div className="flex items-center gap-3">
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save
          </Button>
          {save.isSuccess && <p role="status">Saved.</p>}
        </div>
      )}
    </form>
  );
}

function Features({ isAdmin }: { isAdmin: boolean }) {
  const scope = useScope();
  const {
    data: { flags },
  } = useSuspenseQuery(featureFlagsQuery(scope));
  const save = useSetFeatureFlag();
  return (
    <Section title="Features">
      {save.error && <RequestError error={save.error} />}
      <ul className="space-y-2">
        {Object.entries(flags).map(([key, enabled]) => (
          <li key={key}>
            <label className="flex items-center gap-2.5">
              <input
                type="checkbox"
                checked={enabled}
                disabled={!isAdmin || save.isPending}
                onChange={() => save.mutate({ key, enabled: !enabled })}
              />
              {FLAGS[key] ?? key}
            </label>
          </li>
        ))}
      </ul>
    </Section>
  );
}
