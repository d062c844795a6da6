import { useEffect } from "react";

/** Sets the title of the document. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Loopgate` : "Loopgate";
  }, [title]);
}
