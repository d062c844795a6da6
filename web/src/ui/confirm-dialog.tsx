import { type ReactNode, Suspense } from "react";

import { lazyPart } from "./lazy-view";

export interface ConfirmDialogProps {
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
}

const OpenConfirmDialog = lazyPart(() => import("./open-confirm-dialog"), "OpenConfirmDialog");

/** Confirmation dialog for actions that cannot be undone or that incur cost. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return <Suspense>{props.open && <OpenConfirmDialog {...props} />}</Suspense>;
}
