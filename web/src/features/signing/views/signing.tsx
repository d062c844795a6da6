/** Browser keys that sign commands for desktops that require signatures. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { computeTargetsQuery, meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { moment } from "@/model/format";
import { requiresSignature } from "@/signing/commands";
import { Button } from "@/ui/button";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Notice, Panel } from "@/ui/panel";
import { Section } from "@/ui/section";

import {
  browserKeyQuery,
  publicKeysQuery,
  useRegisterBrowserKey,
  useRemoveBrowserKey,
} from "../queries";

export function SigningPage() {
  usePageTitle("Command signing");
  return (
    <Section
      title="Command signing"
      about="A machine can require that its commands are signed by a key in your browser. No other party can then send it commands, not even the control plane. Register this browser, then authorize its key on the machine."
    >
      <SignatureNotice />
      <Keys />
    </Section>
  );
}

function SignatureNotice() {
  const scope = useScope();
  const { data: targets } = useSuspenseQuery(computeTargetsQuery(scope));
  const requiring = targets.filter(requiresSignature);
  if (requiring.length === 0) return null;
  const names = requiring.map((target) => target.machineName).join(", ");
  return (
    <Notice tone="info" title="Signatures are required">
      {names} {requiring.length === 1 ? "accepts" : "accept"} signed commands only.
    </Notice>
  );
}

function Keys() {
  const scope = useScope();
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const { data: keys } = useSuspenseQuery(publicKeysQuery(scope));
  const { data: own } = useSuspenseQuery(browserKeyQuery(scope, me.id));
  const register = useRegisterBrowserKey(me.id);
  const registered = keys.find((key) => key.fingerprint === own?.fingerprint);
  return (
    <>
      {register.error && (
        <Notice tone="bad" title="This browser's key could not be used">
          {messageOf(register.error)}
        </Notice>
      )}
      <Panel>
        {keys.length > 0 ? (
          <ul className="divide-y divide-line">
            {keys.map((key) => (
              <Key
                key={key.id}
                userId={me.id}
                fingerprint={key.fingerprint}
                createdAt={key.createdAt}
                isHere={key === registered}
              />
            ))}
          </ul>
        ) : (
          <EmptyState icon={<KeyRound />} title="No browser is registered">
            Commands from this browser are not signed.
          </EmptyState>
        )}
      </Panel>
      {registered ? (
        <div>
          <h3 className="font-medium">Authorize the key on a machine</h3>
          <p className="mt-1 mb-2.5 text-ink-2">
            Compare the fingerprint, then run this on the machine:
          </p>
          <CommandLine
            text={`loopgate keys authorize ${registered.fingerprint}`}
            label="Copy command"
          />
        </div>
      ) : (
        <Button variant="primary" busy={register.isPending} onClick={() => register.mutate()}>
          Register this browser
        </Button>
      )}
    </>
  );
}

function Key({
  userId,
  fingerprint,
  createdAt,
  isHere,
}: {
  userId: string;
  fingerprint: string;
  createdAt: string;
  isHere: boolean;
}) {
  const [confirming, setConfirming] = useState(false);
  const remove = useRemoveBrowserKey(userId);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-sm">{fingerprint}</p>
        <p className="text-sm text-ink-3">
          {isHere ? "This browser" : "Another browser"}, registered {moment(createdAt)}
        </p>
        {remove.error && (
          <p role="alert" className="text-sm text-bad">
            {messageOf(remove.error)}
          </p>
        )}
      </div>
      <Button
        size="sm"
        variant="danger"
        aria-label={`Remove ${fingerprint}`}
        onClick={() => setConfirming(true)}
      >
        Remove
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title="Remove this key?"
        confirm="Remove"
        busy={remove.isPending}
        onConfirm={() => remove.mutate(fingerprint, { onSettled: () => setConfirming(false) })}
      >
        Machines that authorized this key no longer accept commands signed with it.
      </ConfirmDialog>
    </li>
  );
}
