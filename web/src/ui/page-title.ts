import { useEffect } from "react";

/** Names the browser tab for as long as a page is shown. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Loopgate` : "Loopgate";
  }, [title]);
}
