/** Addresses of comments and findings, and the focus of what an address names. */
import { useRouter } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";

import type { ChangesAddress } from "@/routing/changes-address";

type NoteAddress = Pick<ChangesAddress, "repo" | "comment" | "finding">;

/** Returns the function that returns the address of a comment or finding on this page. */
export function useNoteLink(): (note: NoteAddress) => string {
  const router = useRouter();
  return (note) => {
    const { href } = router.buildLocation({ to: ".", search: { tab: "changes", ...note } });
    return new URL(href, window.location.href).href;
  };
}

export interface NoteFocus {
  /** Id of the note that gets the focus when it is displayed: the diff has removed it if it is out of view. */
  focused: string | undefined;
  setFocused: (id: string | undefined) => void;
}

/** Moves the focus to the element of a note once, when it is displayed. */
export function useNoteFocus(
  id: string,
  { focused, setFocused }: NoteFocus,
): RefObject<HTMLElement | null> {
  const element = useRef<HTMLElement>(null);
  const isFocused = focused === id;
  useEffect(() => {
    const card = element.current;
    if (!isFocused || !card) return;
    const focus = () => {
      card.focus();
      // The next jump to this note moves the focus again.
      if (document.activeElement === card) setFocused(undefined);
    };
    // The viewer may display the element later, and the focus cannot move to it before.
    const observer = new ResizeObserver(focus);
    observer.observe(card);
    focus();
    return () => observer.disconnect();
  }, [isFocused, setFocused]);
  return element;
}
