/** The machines that run loops: connect, share and remove them. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { computeTargetsQuery, meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";
import { ago, moment } from "@/model/format";
import { OnlineDot } from "@/ui/online-dot";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import { useCreateOnboardingAttempt, useRemoveDesktop, useShareDesktop } from "../queries";

const PLATFORMS: Record<string, string> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(window.location.hostname);

export function DesktopsPage() {
  const scope = useScope();
  usePageTitle("Machines");
  const { data: desktops } = useSuspenseQuery(computeTargetsQuery(scope));
  const attempt = useCreateOnboardingAttempt();
  return (
    <Section
      title="Machines"
      about="Loops run on machines with your repositories and the assistant. Your machines run your loops, and those of all members if you share them."
      action={
        <Button variant="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          Connect a machine
        </Button>
      }
    >
      {attempt.error && <RequestError error={attempt.error} />}
      {attempt.data && (
        <Notice tone="info" title="Run this command on the machine">
          <CommandLine text={`loopgate connect ${window.location.origin}`} label="Copy command" />
          <p className="mt-3 mb-1">The command asks for this code:</p>
          <CommandLine text={attempt.data.onboardingAttemptId} label="Copy code" />
          <p className="mt-2">
            The code can be used once, before {moment(attempt.data.expiresAt)}. Then start{" "}
            <code className="font-mono text-sm">loopgate gateway</code> on that machine.
            {isLoopback &&
              " The address of this control plane is reachable only from its own machine."}
          </p>
        </Notice>
      )}
      <Rows items={desktops} empty="No machines connected.">
        {(desktop) => <DesktopRow key={desktop.id} desktop={desktop} />}
      </Rows>
    </Section>
  );
}

function DesktopRow({ desktop }: { desktop: ComputeTarget }) {
  const scope = useScope();
  const [confirming, setConfirming] = useState(false);
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const share = useShareDesktop();
  const remove = useRemoveDesktop();
  const now = useNow(30_000);
  const { id, machineName, isOnline, isSharedWithOrg, grantsCommands } = desktop;
  const facts = [
    isOnline ? "online" : `last seen ${ago(desktop.lastSeenAt, now)}`,
    PLATFORMS[desktop.platform] ?? desktop.platform,
    desktop.ownerName
      ? `owned by ${desktop.ownerName}`
      : isSharedWithOrg && (grantsCommands ? "shared with commands" : "shared for loops"),
    desktop.security.status !== "protected" && "API key not bound to this machine",
  ];
  const error = share.error ?? remove.error;
  return (
    <Row
      actions={
        desktop.userId === me.id && (
          <>
            <Button
              size="sm"
              aria-label={`${isSharedWithOrg ? "Stop sharing" : "Share"} ${machineName}`}
              busy={share.isPending}
              onClick={() =>
                share.mutate({ id, isSharedWithOrg: !isSharedWithOrg, grantsCommands: false })
              }
            >
              {isSharedWithOrg ? "Stop sharing" : "Share"}
            </Button>
            {isSharedWithOrg && (
              <Button
                size="sm"
                aria-label={`${grantsCommands ? "Refuse" : "Allow"} commands of members on ${machineName}`}
                busy={share.isPending}
                onClick={() =>
                  share.mutate({ id, isSharedWithOrg: true, grantsCommands: !grantsCommands })
                }
              >
                {grantsCommands ? "Refuse commands" : "Allow commands"}
              </Button>
            )}
            <Button
              size="sm"
              variant="danger"
              aria-label={`Remove ${machineName}`}
              onClick={() => setConfirming(true)}
            >
              Remove
            </Button>
          </>
        )
      }
    >
      <p className="flex items-baseline gap-2.5">
        <OnlineDot online={isOnline} />
        <span dir="auto" className="truncate font-medium">
          {machineName}
        </span>
      </p>
      <p className="text-sm text-ink-3">{facts.filter(Boolean).join(", ")}</p>
      {error && (
        <p role="alert" className="text-sm text-bad">
          {messageOf(error)}
        </p>
      )}
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={`Remove ${machineName}?`}
        confirm="Remove"
        busy={remove.isPending}
        onConfirm={() => remove.mutate(id, { onSettled: () => setConfirming(false) })}
      >
        Its API key is revoked immediately, and it receives no more loops. Delivered work is kept.
        To use the machine again, connect it again. A machine that runs{" "}
        <code className="font-mono text-sm">loopgate up</code> reconnects when that command is
        restarted.
      </ConfirmDialog>
    </Row>
  );
}
