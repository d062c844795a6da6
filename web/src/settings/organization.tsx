/** What administrators decide for the loops of the organization. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { featureFlagsQuery, meQuery } from "@/api/queries";
import type { OrganizationSettings } from "@/api/types";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Skeleton } from "@/ui/panel";

import {
  organizationSettingsQuery,
  useSetFeatureFlag,
  useSetOrganizationSettings,
} from "./queries";
import { Refusal, Section } from "./section";

const FLAGS: Record<string, string> = {
  "mermaid-enhancements": "Diagrams of plans can be zoomed, moved and saved",
};

export function OrganizationPage() {
  usePageTitle("Organization");
  const { data: me } = useSuspenseQuery(meQuery);
  const settings = useQuery(organizationSettingsQuery);
  const isAdmin = me.role === "org:admin";
  return (
    <>
      <Section
        title={me.organization.name}
        about={isAdmin ? undefined : "Administrators change these."}
      >
        {settings.isPending && <Skeleton className="h-40 w-full rounded-lg" />}
        {settings.error && <Refusal error={settings.error} />}
        {settings.data && <Limits settings={settings.data} isAdmin={isAdmin} />}
      </Section>
      <Features isAdmin={isAdmin} />
    </>
  );
}

/** A limit as it is typed: blank means that there is none. */
const shown = (value: number | null | undefined) => (value == null ? "" : String(value));
const read = (text: string) => (text.trim() === "" ? null : Number(text));

function Limits({ settings, isAdmin }: { settings: OrganizationSettings; isAdmin: boolean }) {
  const { maxConcurrentLoops, spendingLimits } = settings;
  const [loops, setLoops] = useState(shown(maxConcurrentLoops));
  const [perLoop, setPerLoop] = useState(shown(spendingLimits.perLoopUsd));
  const [perDay, setPerDay] = useState(shown(spendingLimits.perDayUsd));
  const [perMonth, setPerMonth] = useState(shown(spendingLimits.perMonthUsd));
  const set = useSetOrganizationSettings();
  const fields = [
    ["Loops of one person at once", "Blank: 10", "1", loops, setLoops],
    ["One loop may spend", "US dollars; blank: no limit", "0.01", perLoop, setPerLoop],
    ["All loops may spend on a day", "US dollars; blank: no limit", "0.01", perDay, setPerDay],
    [
      "All loops may spend in a month",
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
        set.mutate({
          maxConcurrentLoops: read(loops),
          spendingLimits: {
            perLoopUsd: read(perLoop),
            perDayUsd: read(perDay),
            perMonthUsd: read(perMonth),
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
      {set.error && (
        <p role="alert" className="text-bad">
          {messageOf(set.error)}
        </p>
      )}
      {isAdmin && (
        <div className="flex items-center gap-3">
          <Button type="submit" look="primary" busy={set.isPending}>
            Save
          </Button>
          {set.isSuccess && <p role="status">Saved.</p>}
        </div>
      )}
    </form>
  );
}

function Features({ isAdmin }: { isAdmin: boolean }) {
  const flags = useQuery(featureFlagsQuery);
  const set = useSetFeatureFlag();
  if (!flags.data) return null;
  return (
    <Section title="Features">
      {set.error && <Refusal error={set.error} />}
      <ul className="space-y-2">
        {Object.entries(flags.data.flags).map(([key, enabled]) => (
          <li key={key}>
            <label className="flex items-center gap-2.5">
              <input
                type="checkbox"
                checked={enabled}
                disabled={!isAdmin || set.isPending}
                onChange={() => set.mutate({ key, enabled: !enabled })}
              />
              {FLAGS[key] ?? key}
            </label>
          </li>
        ))}
      </ul>
    </Section>
  );
}
