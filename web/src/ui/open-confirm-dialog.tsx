import { AlertDialog } from "radix-ui";

import { Button } from "./button";
import type { ConfirmDialogProps } from "./confirm-dialog";

/** See `ConfirmDialog`, which loads it. */
export function OpenConfirmDialog({
  onOpenChange,
  title,
  children,
  cancel = "Cancel",
  confirm,
  variant = "danger",
  busy,
  onConfirm,
}: ConfirmDialogProps) {
  return (
    <AlertDialog.Root open onOpenChange={onOpenChange}>
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
