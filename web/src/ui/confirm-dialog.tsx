import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";

import { Button } from "./button";

/** Confirmation dialog for actions that cannot be undone or that incur cost. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  children,
  cancel = "Cancel",
  confirm,
  variant = "danger",
  busy,
  onConfirm,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  cancel?: string;
  confirm: string;
  /** Style of the confirm button. */
  variant?: "danger" | "primary";
  busy: boolean;
  onConfirm: () => void;
}) {
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <AlertDialog.Content className="fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-rise overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-raised">
          <AlertDialog.Title dir="auto" className="text-lg font-semibold">
            {title}
          </AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-1.5 text-pretty text-ink-2">{children}</div>
          </AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button variant="plain">{cancel}</Button>
            </AlertDialog.Cancel>
            <Button variant={variant} busy={busy} onClick={onConfirm}>
              {confirm}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
