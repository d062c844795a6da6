import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { announce } from "./announce";
import { Button } from "./button";
import { Tip } from "./tip";

// Time for which the check mark is shown.
const CONFIRM_MS = 1_600;

/** A long text can be a function, which is called when it is copied. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [state, setState] = useState<"copied" | "failed">();
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState(undefined), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    const isCopied = await copyText(typeof text === "string" ? text : text());
    setState(isCopied ? "copied" : "failed");
    if (isCopied) announce("Copied");
  };
  const name = state === "copied" ? "Copied" : label;
  return (
    <>
      {state === "failed" && (
        <span role="alert" className="text-sm text-bad">
          Copying failed. Select the text and copy it.
        </span>
      )}
      <Tip label={name}>
        <Button variant="quiet" size="icon" aria-label={name} onClick={() => void copy()}>
          {state === "copied" ? <Check className="text-ok" /> : <Copy />}
        </Button>
      </Tip>
    </>
  );
}

/** Copies a text. Returns whether it succeeded. */
async function copyText(text: string): Promise<boolean> {
  try {
    // Undefined on pages that were loaded over HTTP from another machine; rejects when access is denied.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  // In a dialog that keeps the focus, an element outside of it could not be selected.
  (focused?.parentElement ?? document.body).append(area);
  area.focus();
  area.select();
  try {
    // Deprecated, but the only way without the clipboard API.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
