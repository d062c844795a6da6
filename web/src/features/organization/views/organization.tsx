/** Settings of the organization: limits and feature flags. */
import { useSuspenseQuery } from "@tanstack/react-query";

import { messageOf } from "@/api/errors";
import { featureFlagsQuery, meQuery, organizationSettingsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { OrganizationSettings } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Section } from "@/ui/section";

import { useSetFeatureFlag, useSetOrganizationSettings } from "../queries";

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

const NO_LIMIT = "In US dollars. Leave blank for no limit.";

const FIELDS = [
  { name: "loops", label: "Concurrent loops per user", hint: "Leave blank for 10.", step: "1" },
  { name: "perLoop", label: "Spending limit per loop", hint: NO_LIMIT, step: "0.01" },
  { name: "perDay", label: "Spending limit per day, all loops", hint: NO_LIMIT, step: "0.01" },
  { name: "perMonth", label: "Spending limit per month, all loops", hint: NO_LIMIT, step: "0.01" },
] as const;

function LimitsForm({ settings, isAdmin }: { settings: OrganizationSettings; isAdmin: boolean }) {
  const { maxConcurrentLoops, spendingLimits, holdPullRequests } = settings;
  const stored = {
    holds: holdPullRequests,
    loops: toText(maxConcurrentLoops),
    perLoop: toText(spendingLimits.perLoopUsd),
    perDay: toText(spendingLimits.perDayUsd),
    perMonth: toText(spendingLimits.perMonthUsd),
  };
  const draft = useDraft("settings/organization", "limits", stored);
  // A draft of an earlier version has no such member.
  const limits = { ...stored, ...draft.value };
  const changed =
    limits.holds !== stored.holds || FIELDS.some(({ name }) => limits[name] !== stored[name]);
  const save = useSetOrganizationSettings();
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(
          {
            maxConcurrentLoops: toLimit(limits.loops),
            holdPullRequests: limits.holds,
            spendingLimits: {
              perLoopUsd: toLimit(limits.perLoop),
              perDayUsd: toLimit(limits.perDay),
              perMonthUsd: toLimit(limits.perMonth),
            },
          },
          { onSuccess: draft.remove },
        );
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {FIELDS.map(({ name, label, hint, step }) => (
          <Field key={name} label={label} hint={hint}>
            {(control) => (
              <input
                {...control}
                type="number"
                min={step === "1" ? 1 : 0}
                step={step}
                disabled={!isAdmin}
                value={limits[name]}
                onChange={(event) =>
                  draft.change((value) => ({ ...value, [name]: event.target.value }))
                }
                className={INPUT_CLASS}
              />
            )}
          </Field>
        ))}
      </div>
      <label className="flex items-center gap-2.5">
        <input
          type="checkbox"
          checked={limits.holds}
          disabled={!isAdmin}
          onChange={(event) => draft.change((value) => ({ ...value, holds: event.target.checked }))}
        />
        Wait for a person to approve the changes before a pull request is opened
      </label>
      {save.error && (
        <p role="alert" className="text-bad">
          {messageOf(save.error)}
        </p>
      )}
      <DraftNotice draft={draft} />
      {isAdmin && (
        <div className="flex items-center gap-3">
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save
          </Button>
          {changed && <Button onClick={draft.discard}>Discard changes</Button>}
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
