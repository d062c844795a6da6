/** API keys for programs that call the control plane. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";

import { messageOf } from "@/api/errors";
import { useScope } from "@/api/scope";
import type { ApiKey, ApiKeyScope } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { ago, moment } from "@/model/format";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";
import { Row, Rows, Section } from "@/ui/section";

import { apiKeysQuery, useCreateApiKey, useRevokeApiKey } from "../queries";

const SCOPES: [ApiKeyScope, string][] = [
  ["read", "Read"],
  ["write", "Write"],
  ["delete", "Delete"],
];

// Lifetimes in days; without one the key does not expire.
const LIFETIMES: [string, number | undefined][] = [
  ["30 days", 30],
  ["90 days", 90],
  ["1 year", 365],
  ["No expiration", undefined],
];

export function ApiKeysPage() {
  const scope = useScope();
  usePageTitle("API keys");
  const { data: keys } = useSuspenseQuery(apiKeysQuery(scope));
  return (
    <Section
      title="API keys"
      about="A program with an API key acts on your behalf, within the scopes of the key. Machines use separate keys."
    >
      <Suspense>
        <CreateForm />
      </Suspense>
      <Rows items={keys} empty="No API keys.">
        {(key) => <KeyRow key={key.id} apiKey={key} />}
      </Rows>
    </Section>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const [confirming, setConfirming] = useState(false);
  const revoke = useRevokeApiKey();
  const now = useNow(undefined);
  const lastUse = apiKey.lastUsedAt ? `last used ${ago(apiKey.lastUsedAt, now)}` : "never used";
  const expiration = apiKey.expiresAt ? `expires ${moment(apiKey.expiresAt)}` : "no expiration";
  return (
    <Row
      actions={
        apiKey.revokedAt ? (
          <span className="text-sm text-ink-3">Revoked</span>
        ) : (
          <Button
            size="sm"
            variant="danger"
            aria-label={`Revoke ${apiKey.name}`}
            onClick={() => setConfirming(true)}
          >
            Revoke
          </Button>
        )
      }
    >
      <p dir="auto" className="truncate font-medium">
        {apiKey.name}
      </p>
      <p className="text-sm text-ink-3">
        <span className="font-mono">{apiKey.keyPrefix}…</span> {apiKey.scopes.join(", ")}; {lastUse}
        , {expiration}
      </p>
      {revoke.error && (
        <p role="alert" className="text-sm text-bad">
          {messageOf(revoke.error)}
        </p>
      )}
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={`Revoke ${apiKey.name}?`}
        confirm="Revoke"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate(apiKey.id, { onSettled: () => setConfirming(false) })}
      >
        Programs that use this key lose access immediately.
      </ConfirmDialog>
    </Row>
  );
}

interface KeyDraft {
  name: string;
  scopes: ApiKeyScope[];
  days: number | undefined;
}

const NO_KEY: KeyDraft = { name: "", scopes: ["read"], days: 90 };

function CreateForm() {
  const draft = useDraft("settings/keys", "key", NO_KEY);
  const { name, scopes, days } = draft.value;
  const set = (change: Partial<KeyDraft>) => draft.change((value) => ({ ...value, ...change }));
  const create = useCreateApiKey();
  const toggle = (scope: ApiKeyScope) =>
    set({
      scopes: scopes.includes(scope) ? scopes.filter((item) => item !== scope) : [...scopes, scope],
    });
  return (
    <>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          const expiresAt = days && new Date(Date.now() + days * 86_400_000).toISOString();
          create.mutate(
            { name: name.trim(), scopes, ...(expiresAt && { expiresAt }) },
            { onSuccess: draft.discard },
          );
        }}
      >
        <Field label="Name" error={create.error ? messageOf(create.error) : undefined}>
          {(control) => (
            <input
              {...control}
              required
              maxLength={100}
              autoComplete="off"
              value={name}
              onChange={(event) => set({ name: event.target.value })}
              className={`${INPUT_CLASS} max-w-sm`}
            />
          )}
        </Field>
        <fieldset>
          <legend className="mb-1.5 font-medium">Scopes</legend>
          <div className="flex flex-wrap gap-4">
            {SCOPES.map(([scope, label]) => (
              <label key={scope} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={() => toggle(scope)}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        <fieldset>
          <legend className="mb-1.5 font-medium">Expiration</legend>
          <div className="flex flex-wrap gap-4">
            {LIFETIMES.map(([label, lifetime]) => (
              <label key={label} className="flex items-center gap-2">
                <input
                  type="radio"
                  name="lifetime"
                  checked={days === lifetime}
                  onChange={() => set({ days: lifetime })}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        <Button
          type="submit"
          variant="primary"
          busy={create.isPending}
          disabled={scopes.length === 0}
        >
          Create key
        </Button>
      </form>
      <DraftNotice draft={draft} />
      {create.data && (
        <Notice tone="info" title={`API key ${create.data.name}`}>
          <p className="mb-2">Copy the key now. It is not shown again.</p>
          <CommandLine text={create.data.plaintext} label="Copy key" />
        </Notice>
      )}
    </>
  );
}
