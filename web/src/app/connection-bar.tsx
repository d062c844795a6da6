import { useConnection } from "@/api/connection";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** States that the control plane does not respond, and how old the page is. */
export function ConnectionBar() {
  const { isLost, lastResponseAt } = useConnection();
  return (
    // Always present: assistive technology announces changes of a region that it knows.
    <div role="status">
      {isLost && (
        <p className="bg-warn-soft px-4 py-1.5 text-center text-sm text-ink">
          Loopgate is not responding. Last update {clock.format(lastResponseAt)}. Reconnecting…
        </p>
      )}
    </div>
  );
}
