/** Changes all selected entries. Stays visible at the bottom of the window. */
import { useNow } from "@/ui/clock";
import { Button } from "@/ui/button";
import { usePageActions } from "@/ui/page-actions";

import { selectionActions } from "../model/entry-actions";
import type { ListActions } from "./list-actions";

export function SelectionBar({ actions }: { actions: ListActions }) {
  const { selected, isPending, clear } = actions;
  const now = useNow(30_000);
  const offered = selectionActions(selected, selected.every(actions.mayDelete), new Date(now)).map(
    ({ label, change, requests }) => ({
      label,
      run: () => actions.apply(requests, change, clear),
    }),
  );
  usePageActions(
    offered.map(({ label, run }) => ({ label: `${label}: ${selected.length} selected`, run })),
  );
  return (
    <section
      aria-label="Selection"
      className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-raised px-4 py-2.5 shadow-raised"
    >
      <p role="status" className="mr-2 font-medium tabular-nums">
        {selected.length} selected
      </p>
      {offered.map(({ label, run }) => (
        <Button key={label} size="sm" busy={isPending} onClick={run}>
          {label}
        </Button>
      ))}
      <Button size="sm" variant="quiet" onClick={clear}>
        Clear
      </Button>
    </section>
  );
}
