import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** Moves the focus to the heading of a page after a navigation to it, so that assistive technology reads it. */
export function useHeadingFocus(): void {
  const router = useRouter();
  useEffect(() => {
    // On the first load the browser reads the page itself.
    let { pathname } = router.state.location;
    return router.subscribe("onRendered", ({ toLocation }) => {
      const isOtherPage = toLocation.pathname !== pathname;
      pathname = toLocation.pathname;
      // A menu that was closed by the navigation returns the focus to its button, which it does later.
      if (isOtherPage) setTimeout(focusHeading);
    });
  }, [router]);
}

function focusHeading(): void {
  const content = document.getElementById("content");
  if (!content || isInUse(document.activeElement)) return;
  // The settings pages have one title in common; what differs is below it.
  const page = content.querySelector("[data-page]") ?? content;
  const heading = page.querySelector<HTMLElement>("h1, h2") ?? content;
  heading.tabIndex = -1;
  // The router restores the scroll position.
  heading.focus({ preventScroll: true });
}

/** A page may focus its first field, and the person may open a menu while the page is loading. */
const isInUse = (focused: Element | null): boolean =>
  focused?.matches(
    "input, textarea, select, [role=dialog], [role=dialog] *, [role=alertdialog] *",
  ) ?? false;
