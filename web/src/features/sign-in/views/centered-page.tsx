import type { ReactNode } from "react";

import { Mark } from "@/ui/mark";

/** Layout of pages outside a session: sign-in, invitation, signed out. */
export function CenteredPage({
  title,
  alert,
  children,
}: {
  title: string;
  alert?: boolean;
  children: ReactNode;
}) {
  return (
    <main className="grid min-h-dvh place-items-center p-6">
      <div className="w-full max-w-sm" role={alert ? "alert" : undefined}>
        <Mark className="mb-5 size-10 text-accent" />
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        <div className="mt-2 space-y-4 text-pretty text-ink-2">{children}</div>
      </div>
    </main>
  );
}
