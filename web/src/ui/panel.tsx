import { CircleAlert, Info } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "./cx";

/** A bordered surface. */
export function Panel({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <section className={cx("rounded-lg border border-line bg-surface", className)}>
      {children}
    </section>
  );
}

/** Empty state of a list or page: why it is empty, and what to do. */
export function EmptyState({
  icon,
  title,
  isPage,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  /** Renders the title as `h1`, when the empty state is the whole page. */
  isPage?: boolean;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const Heading = isPage ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      {icon && <div className="mb-4 text-ink-3 [&_svg]:size-7 [&_svg]:stroke-[1.5]">{icon}</div>}
      <Heading className="text-lg font-semibold">{title}</Heading>
      {children && <div className="mt-1.5 max-w-[52ch] text-pretty text-ink-2">{children}</div>}
      {action && <div className="mt-5">{action}</div>}
    </div>
  );
}

/** A message within a page: information, warning or error. */
export function Notice({
  tone = "info",
  title,
  children,
  action,
}: {
  tone?: "info" | "bad" | "warn";
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const Icon = tone === "info" ? Info : CircleAlert;
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={cx(
        "flex items-start gap-2.5 rounded-md px-3.5 py-2.5",
        tone === "info" && "bg-idle-soft text-ink",
        tone === "warn" && "bg-warn-soft text-ink",
        tone === "bad" && "bg-bad-soft text-ink",
      )}
    >
      <Icon
        aria-hidden
        className={cx(
          "mt-0.5 size-4 shrink-0",
          tone === "info" && "text-ink-3",
          tone === "warn" && "text-warn",
          tone === "bad" && "text-bad",
        )}
      />
      <div className="min-w-0 flex-1">
        <p dir="auto" className="font-medium">
          {title}
        </p>
        {children && (
          <div dir="auto" className="mt-0.5 text-pretty text-ink-2">
            {children}
          </div>
        )}
      </div>
      {action}
    </div>
  );
}

/** Title of a page while it is loading, if what is loaded determines it: assistive technology reads its kind. */
export function LoadingTitle({ kind }: { kind: string }) {
  return (
    <h1>
      <span className="sr-only">{kind}</span>
      <Skeleton className="h-8 w-96 max-w-full" />
    </h1>
  );
}

/** Placeholder for content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cx("skeleton block", className)} />;
}
