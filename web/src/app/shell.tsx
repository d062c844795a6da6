/** Layout of all pages of an organization: header and content. */
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useEffect } from "react";

import { ApprovalsBadge } from "@/features/approvals/views/approvals-badge";
import { buttonClass } from "@/ui/button";
import { Mark } from "@/ui/mark";

import { AccountMenu } from "./account-menu";
import { ConnectionBar } from "./connection-bar";
import { DesktopStatus } from "./desktop-status";
import { OrganizationSwitch } from "./organization-switch";

export function Shell() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  useNewLoopKey(orgSlug);
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-20 border-b border-line bg-surface">
        <div className="mx-auto flex h-13 w-full max-w-7xl items-center gap-1 px-4 sm:gap-2 sm:px-6">
          <Link
            to="/$orgSlug/loops"
            params={{ orgSlug }}
            className="-ml-1 flex items-center gap-2 rounded-md p-1"
            aria-label="Loopgate, all loops"
          >
            <Mark className="size-6.5 text-accent" />
            <span className="text-[0.9375rem] font-semibold tracking-tight">Loopgate</span>
          </Link>
          <span aria-hidden className="mx-0.5 hidden text-line-strong sm:inline">
            /
          </span>
          <OrganizationSwitch orgSlug={orgSlug} />
          <div className="flex-1" />
          <ApprovalsBadge orgSlug={orgSlug} />
          <DesktopStatus orgSlug={orgSlug} />
          <Link
            to="/$orgSlug/loops/new"
            params={{ orgSlug }}
            className={buttonClass("primary", "sm")}
            aria-keyshortcuts="n"
          >
            <Plus aria-hidden />
            <span className="max-sm:sr-only">New loop</span>
          </Link>
          <AccountMenu />
        </div>
        <ConnectionBar />
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-7xl flex-1 px-4 py-6 outline-none sm:px-6 sm:py-8"
      >
        <Outlet />
      </main>
    </div>
  );
}

/** Opens the new-loop page with `n`, unless a text field, menu or dialog has the focus. */
function useNewLoopKey(orgSlug: string): void {
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const control = (event.target as HTMLElement).closest(
        "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu]",
      );
      if (event.key !== "n" || control || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      void navigate({ to: "/$orgSlug/loops/new", params: { orgSlug } });
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, orgSlug]);
}
