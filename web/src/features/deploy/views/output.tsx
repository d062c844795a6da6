/** The end of the output of a deployment. Shows its last line, also when more lines arrive. */
export function Output({ text, label }: { text: string; label: string }) {
  return (
    <div
      // Scrolls separately from the page, and must be reachable by keyboard.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={label}
      // Reversed: the browser keeps the scroll position at the end.
      className="flex max-h-96 flex-col-reverse overflow-y-auto rounded-md border border-line bg-sunken"
    >
      <pre
        dir="auto"
        className="px-3.5 py-3 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap"
      >
        {text}
      </pre>
    </div>
  );
}
