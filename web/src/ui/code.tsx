import type { ReactNode } from "react";

/** Inline code. */
export function Code({ children }: { children: ReactNode }) {
  return (
    <code className="rounded-sm border border-line bg-sunken px-1 py-px font-mono text-[0.9em]">
      {children}
    </code>
  );
}

/** Text in which parts in backticks are rendered as inline code. */
export function WithCode({ text }: { text: string }) {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part));
}
