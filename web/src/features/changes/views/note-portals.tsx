import { type ReactNode, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";

import { cardId, type DiffFile, type LineNote } from "../model/diff-file";
import type { NoteCards } from "../model/note-cards";
import type { DiffPlace } from "../model/use-diff-scroll";

/** A place for a card, which the viewer creates and removes. */
export function NotePlace({ cards, id }: { cards: NoteCards; id: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    cards.place(id, element);
    return () => cards.remove(id, element);
  }, [cards, id]);
  return <div ref={place} className="contents" />;
}

/** Renders the cards that have a place, or the focus. */
export function NotePortals({
  cards,
  files,
  renderNote,
  onInput,
}: {
  cards: NoteCards;
  files: readonly DiffFile[];
  renderNote: (note: LineNote, path: string) => ReactNode;
  /** Called when the person types in a card that is not displayed. */
  onInput: (place: DiffPlace) => void;
}) {
  const rendered = useSyncExternalStore(cards.subscribe, cards.snapshot);
  const portals = new Map<string, ReactNode>();
  for (const { file, notes } of files)
    for (const { side, line, note } of notes) {
      const { path } = file;
      const id = cardId(note, path);
      if (!rendered.has(id)) continue;
      const card = (
        <div
          role="presentation"
          className="contents"
          onInput={() => {
            if (cards.isOffscreen(id)) onInput({ path, side, line });
          }}
        >
          {renderNote(note, path)}
        </div>
      );
      portals.set(id, createPortal(card, cards.elementOf(id), id));
    }
  return [...portals.values()];
}
