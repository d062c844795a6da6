/** Layout of all pages of an organization: navigation and content. */
import { Outlet, useParams } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { useConnection } from "@/api/connection";
import { useListChanges } from "@/api/list-changes";
import { lazyView } from "@/ui/lazy-view";
import { Announcer } from "@/ui/announcer";
import { cx } from "@/ui/cx";

import { useAttention } from "./attention";
import { ConnectionBar } from "./connection-bar";
import { Navigation } from "./navigation";
import { useGlobalShortcuts, usePaletteKey } from "./global-shortcuts";
import { useAttentionNotifications } from "./notifications";
import { useHeadingFocus } from "./heading-focus";
import { useTabSigns } from "./tab-signs";

const Palette = lazyView(() => import("./palette"), "Palette");
const ShortcutList = lazyView(() => import("./shortcut-list"), "ShortcutList");

export type Overlay = "palette" | "shortcuts" | "more";

export function Shell() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const [overlay, setOverlay] = useState<Overlay>();
  const attention = useAttention();
  const { isLost } = useConnection();
  useTabSigns(attention?.count ?? 0);
  useAttentionNotifications(attention);
  useHeadingFocus();
  useListChanges();
  usePaletteKey(() => setOverlay("palette"));
  useGlobalShortcuts(orgSlug, attention, setOverlay);
  const close = () => setOverlay(undefined);
  return (
    <div className="min-h-dvh md:flex">
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <Navigation
        orgSlug={orgSlug}
        attentionCount={attention?.count ?? 0}
        overlay={overlay}
        onOverlay={setOverlay}
      />
      <div className="flex min-h-dvh min-w-0 flex-1 flex-col">
        <ConnectionBar />
        <main
          id="content"
          tabIndex={-1}
          className={cx(
            "mx-auto w-full max-w-7xl flex-1 px-4 pt-6 pb-24 outline-none sm:px-6 md:py-8",
            // The content is that of the last response. Lower contrast would make it unreadable for some.
            isLost && "grayscale",
          )}
        >
          <Outlet />
        </main>
      </div>
      <Announcer />
      <Suspense>
        {overlay === "palette" && (
          <Palette onClose={close} onShortcuts={() => setOverlay("shortcuts")} />
        )}
        {overlay === "shortcuts" && <ShortcutList onClose={close} />}
      </Suspense>
    </div>
  );
}
