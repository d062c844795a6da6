import type { ReactNode } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { Notice, Panel } from "./panel";

/** Section of a settings page with a title. */
export function Section({
  title,
  about,
  action,
  children,
}: {
  title: string;
  about?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="space-y-4">
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 wrap-anywhere">
          <h2 dir="auto" className="text-lg font-semibold">
            {title}
          </h2>
          {about && (
            <p dir="auto" className="mt-0.5 max-w-[65ch] text-pretty text-ink-2">
              {about}
            </p>
          )}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}

/** List of items, or a message if there are none. */
export function Rows<T>({
  items,
  empty,
  children,
}: {
  items: T[];
  /** Message of an empty list. */
  empty: string;
  children: (item: T) => ReactNode;
}) {
  return (
    <Panel>
      {items.length === 0 ? (
        <p className="px-4 py-8 text-center text-ink-2">{empty}</p>
      ) : (
        <ul className="divide-y divide-line">{items.map(children)}</ul>
      )}
    </Panel>
  );
}

/** Row of a list: content and actions. */
export function Row({ children, actions }: { children: ReactNode; actions?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-56 wrap-anywhere">{children}</div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </li>
  );
}

/** Error of a failed query or mutation. */
export function RequestError({ error }: { error: unknown }) {
  const forbidden = error instanceof ApiError && error.status === 403;
  return (
    <Notice
      tone={forbidden ? "info" : "bad"}
      title={forbidden ? "You don't have access" : "The request failed"}
    >
      {forbidden
        ? "Only administrators of the organization have access. One of them can change your role."
        : messageOf(error)}
    </Notice>
  );
}
