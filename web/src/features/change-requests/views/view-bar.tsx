/** Views of the list: those that everybody has, and those that the person has saved. */
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";

import { useScope } from "@/api/scope";
import type { SavedView } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { FilterChip } from "@/ui/filter-chip";

import { VIEWS } from "../model/search";
import { fromSaved, toSaved, type WorkAddress } from "../model/work-address";
import { savedViewsQuery, useSaveViews } from "../queries";

// The control plane rejects longer names.
const NAME_LENGTH = 60;

export function ViewBar({
  address,
  onSelect,
}: {
  address: WorkAddress;
  onSelect: (address: WorkAddress) => void;
}) {
  const { data: saved = [] } = useQuery(savedViewsQuery(useScope()));
  const save = useSaveViews();
  const current = toSaved(address);
  const known = VIEWS.map(({ name, search }) => ({ name, search: toSaved({ q: search }) }));
  const selected = saved.find(({ search }) => search === current);
  const isKnown = selected !== undefined || known.some(({ search }) => search === current);
  return (
    <>
      <div
        role="group"
        aria-label="Views"
        className="mt-3 flex items-center gap-1.5 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 max-md:py-1 md:flex-wrap"
      >
        {[...known, ...saved].map(({ name, search }) => (
          <FilterChip
            key={`${name} ${search}`}
            pressed={search === current}
            onPress={() => onSelect(search === current ? {} : fromSaved(search))}
          >
            <span dir="auto">{name}</span>
          </FilterChip>
        ))}
        {selected && (
          <Button
            size="sm"
            variant="quiet"
            busy={save.isPending}
            onClick={() => save.mutate(saved.filter((view) => view !== selected))}
          >
            Remove this view
          </Button>
        )}
        {!isKnown && (
          // The list stays visible until the draft is loaded.
          <Suspense>
            <SaveView
              taken={saved}
              isSaving={save.isPending}
              onSave={(name, onSuccess) =>
                save.mutate([...saved, { name, search: current }], { onSuccess })
              }
            />
          </Suspense>
        )}
      </div>
      {save.error && <ActionError title="The view could not be saved" error={save.error} />}
    </>
  );
}

function SaveView({
  taken,
  isSaving,
  onSave,
}: {
  taken: SavedView[];
  isSaving: boolean;
  onSave: (name: string, onSuccess: () => void) => void;
}) {
  // Null while the form is closed.
  const { value: name, change, discard } = useDraft<string | null>("work", "name of a view", null);
  const [isOpened, setIsOpened] = useState(false);
  if (name === null) {
    const open = () => {
      setIsOpened(true);
      change(() => "");
    };
    return (
      <Button size="sm" variant="quiet" onClick={open}>
        Save this view
      </Button>
    );
  }
  const isTaken = taken.some((view) => view.name === name.trim());
  return (
    <form
      className="flex items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "" && !isTaken) onSave(name.trim(), discard);
      }}
    >
      <input
        // The user has just opened the form. Not after a reload.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus={isOpened}
        dir="auto"
        aria-label="Name of the view"
        aria-invalid={isTaken}
        placeholder="Name"
        maxLength={NAME_LENGTH}
        value={name}
        onChange={(event) => change(() => event.target.value)}
        className={`${INPUT_CLASS} !h-7 !w-40 text-sm`}
      />
      <Button size="sm" busy={isSaving} disabled={name.trim() === "" || isTaken} type="submit">
        Save
      </Button>
      <Button size="sm" variant="quiet" onClick={discard}>
        Cancel
      </Button>
      {isTaken && (
        <span role="alert" className="text-sm text-bad">
          This name is taken.
        </span>
      )}
    </form>
  );
}
