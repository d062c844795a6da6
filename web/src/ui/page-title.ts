/** Title of the tab: the page, after the number of items that need the person. */
import { useEffect } from "react";

let title: string | undefined;
let attention = 0;

function apply(): void {
  const count = attention > 0 ? `(${attention}) ` : "";
  document.title = `${count}${title ? `${title} · Loopgate` : "Loopgate"}`;
}

/** Sets the title of the page. */
export function usePageTitle(next: string | undefined): void {
  useEffect(() => {
    title = next;
    apply();
  }, [next]);
}

/** Precedes the titles of all pages with the number of items that need the person. */
export function useTitleCount(count: number): void {
  useEffect(() => {
    attention = count;
    apply();
    return () => {
      attention = 0;
      apply();
    };
  }, [count]);
}
