import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { Button } from "./button";
import { Tip } from "./tip";

// Time for which the check mark is shown.
const CONFIRM_MS = 1_600;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // The browser denied access to the clipboard: show no check mark.
      () => setCopied(false),
    );
  };
  return (
    <Tip label={copied ? "Copied" : label}>
      <Button variant="quiet" size="icon" aria-label={copied ? "Copied" : label} onClick={copy}>
        {copied ? <Check className="text-ok" /> : <Copy />}
      </Button>
    </Tip>
  );
}
