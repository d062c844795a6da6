/** The machines that run loops: connecting one, sharing it, and taking it out again. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { computeTargetsQuery, meQuery } from "@/api/queries";
import type { ComputeTarget } from "@/api/types";
import { ago, moment } from "@/loops/format";
import { OnlineDot } from "@/shell/desktop-status";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { useAttemptToConnect, useRemoveDesktop, useShareDesktop } from "./queries";
import { Refusal, Row, Rows, Section } from "./section";

const PLATFORMS: Record<string, string> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(window.location.hostname);

export function DesktopsPage() {
  usePageTitle("Desktops");
  const desktops = useQuery(computeTargetsQuery);
  const attempt = useAttemptToConnect();
  return (
    <Section
      title="Desktops"
      about="Loops run on desktops: machines that hold your repositories and your assistant. Yours take work from you, and from everybody here once you share them."
      action={
        <Button look="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          Connect a desktop
        </Button>
      }
    >
      {attempt.error && <Refusal error={attempt.error} />}
      {attempt.data && (
        <Notice tone="info" title="Run this on the machine">
          <CommandLine
            text={`loopgate connect ${window.location.origin} --attempt ${attempt.data.onboardingAttemptId}`}
            label="Copy command"
          />
          <p className="mt-2">
            It works once, until {moment(attempt.data.expiresAt)}. Then start{" "}
            <code className="font-mono text-sm">loopgate gateway</code> there.
            {isLoopback &&
              " The address of this control plane is reached from its own machine only."}
          </p>
        </Notice>
      )}
      <Rows query={desktops} empty="No desktop is connected.">
        {(desktop) => <DesktopRow key={desktop.id} desktop={desktop} />}
      </Rows>
    </Section>
  );
}

function DesktopRow({ desktop }: { desktop: ComputeTarget }) {
  const [asking, setAsking] = useState(false);
  const { data: me } = useSuspenseQuery(meQuery);
  const share = useShareDesktop();
  const remove = useRemoveDesktop();
  const now = useNow(30_000);
  const { id, machineName, isOnline, isSharedWithOrg } = desktop;
  const facts = [
    isOnline ? "online" : `seen ${ago(desktop.lastSeenAt, now)}`,
    PLATFORMS[desktop.platform] ?? desktop.platform,
    desktop.ownerName ? `of ${desktop.ownerName}` : isSharedWithOrg && "shared",
    desktop.security.status !== "protected" && "with a key that is not bound to it",
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
              onClick={() => share.mutate({ id, isSharedWithOrg: !isSharedWithOrg })}
            >
              {isSharedWithOrg ? "Stop sharing" : "Share"}
            </Button>
            <Button
              size="sm"
              look="danger"
              aria-label={`Remove ${machineName}`}
              onClick={() => setAsking(true)}
            >
              Remove
            </Button>
          </>
        )
      }
    >
      <p className="flex items-baseline gap-2.5">
        <OnlineDot online={isOnline} />
        <span className="truncate font-medium">{machineName}</span>
      </p>
      <p className="text-sm text-ink-3">{facts.filter(Boolean).join(", ")}</p>
      {error && (
        <p role="alert" className="text-sm text-bad">
          {messageOf(error)}
        </p>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Remove ${machineName}?`}
        confirm="Remove"
        busy={remove.isPending}
        onConfirm={() => remove.mutate(id, { onSettled: () => setAsking(false) })}
      >
        Its key is revoked at once, and it gets no more work. What its loops have delivered stays.
        To come back it has to be connected again; the machine that runs{" "}
        <code className="font-mono text-sm">loopgate up</code> comes back when that is started
        again.
      </ConfirmDialog>
    </Row>
  );
}
