import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { Button } from "./button";
import { Tip } from "./tip";

/** How long the tick stays. */
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
      () => setCopied(false),
    );
  };
  return (
    <Tip label={copied ? "Copied" : label}>
      <Button look="quiet" size="icon" aria-label={copied ? "Copied" : label} onClick={copy}>
        {copied ? <Check className="text-ok" /> : <Copy />}
      </Button>
    </Tip>
  );
}
