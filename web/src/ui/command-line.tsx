import { CopyButton } from "./copy-button";

/** A shell command or secret with a copy button. */
export function CommandLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      <code dir="ltr" className="min-w-0 flex-1 font-mono text-sm break-words">
        {text}
      </code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
