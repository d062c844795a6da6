/** Shows in the tab how many items need the person: title and icon. */
import { useEffect } from "react";

import { useTitleCount } from "@/ui/page-title";

const ICON = "/favicon.svg";
const ICON_WITH_DOT = "/favicon-attention.svg";

export function useTabSigns(count: number): void {
  useTitleCount(count);
  const icon = count > 0 ? ICON_WITH_DOT : ICON;
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (!link) return;
    link.href = icon;
    return () => {
      link.href = ICON;
    };
  }, [icon]);
}
