/** Keys with which programs call the control plane. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import type { ApiKey, Scope } from "@/api/types";
import { ago, moment } from "@/loops/format";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { apiKeysQuery, useCreateApiKey, useRevokeApiKey } from "./queries";
import { Row, Rows, Section } from "./section";

const SCOPES: [Scope, string][] = [
  ["read", "Read"],
  ["write", "Write"],
  ["delete", "Delete"],
];

/** Days that a key may live; none means for ever. */
const LIFETIMES: [string, number | undefined][] = [
  ["30 days", 30],
  ["90 days", 90],
  ["1 year", 365],
  ["No end", undefined],
];

export function ApiKeysPage() {
  usePageTitle("API keys");
  const keys = useQuery(apiKeysQuery);
  return (
    <Section
      title="API keys"
      about="With a key a program acts as you, within the key's scopes. Desktops have keys of their own."
    >
      <CreateForm />
      <Rows query={keys} empty="There is no key.">
        {(key) => <KeyRow key={key.id} apiKey={key} />}
      </Rows>
    </Section>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const [asking, setAsking] = useState(false);
  const revoke = useRevokeApiKey();
  const now = useNow(undefined);
  const used = apiKey.lastUsedAt ? `used ${ago(apiKey.lastUsedAt, now)}` : "never used";
  const end = apiKey.expiresAt ? `ends ${moment(apiKey.expiresAt)}` : "no end";
  return (
    <Row
      actions={
        apiKey.revokedAt ? (
          <span className="text-sm text-ink-3">Revoked</span>
        ) : (
          <Button
            size="sm"
            look="danger"
            aria-label={`Revoke ${apiKey.name}`}
            onClick={() => setAsking(true)}
          >
            Revoke
          </Button>
        )
      }
    >
      <p className="truncate font-medium">{apiKey.name}</p>
      <p className="text-sm text-ink-3">
        <span className="font-mono">{apiKey.keyPrefix}…</span> {apiKey.scopes.join(", ")}; {used},{" "}
        {end}
      </p>
      {revoke.error && (
        <p role="alert" className="text-sm text-bad">
          {messageOf(revoke.error)}
        </p>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Revoke ${apiKey.name}?`}
        confirm="Revoke"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate(apiKey.id, { onSettled: () => setAsking(false) })}
      >
        Whatever uses it is refused at once.
      </ConfirmDialog>
    </Row>
  );
}

function CreateForm() {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read"]);
  const [days, setDays] = useState<number | undefined>(90);
  const create = useCreateApiKey();
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((own) => own !== scope) : [...scopes, scope]);
  return (
    <>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          const end = days && new Date(Date.now() + days * 86_400_000).toISOString();
          create.mutate(
            { name: name.trim(), scopes, ...(end && { expiresAt: end }) },
            { onSuccess: () => setName("") },
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
              onChange={(event) => setName(event.target.value)}
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
          <legend className="mb-1.5 font-medium">Lives for</legend>
          <div className="flex flex-wrap gap-4">
            {LIFETIMES.map(([label, lifetime]) => (
              <label key={label} className="flex items-center gap-2">
                <input
                  type="radio"
                  name="lifetime"
                  checked={days === lifetime}
                  onChange={() => setDays(lifetime)}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        <Button type="submit" look="primary" busy={create.isPending} disabled={scopes.length === 0}>
          Create key
        </Button>
      </form>
      {create.data && (
        <Notice tone="info" title={`The key ${create.data.name}`}>
          <p className="mb-2">It is shown now and never again.</p>
          <CommandLine text={create.data.plaintext} label="Copy key" />
        </Notice>
      )}
    </>
  );
}
