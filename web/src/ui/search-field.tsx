/** Search of a list. The text is part of the address. */
import { useEffect, useEffectEvent, useState } from "react";

import { cx } from "./cx";
import { INPUT_CLASS } from "./field";

const SEARCH_DELAY_MS = 250;

export function SearchField({
  label,
  placeholder,
  maxLength,
  text,
  onSearch,
  className,
}: {
  label: string;
  placeholder: string;
  maxLength: number;
  /** The text in the address. */
  text: string;
  /** Puts a text into the address. Resolves when it is there. */
  onSearch: (text: string) => Promise<void>;
  className: string;
}) {
  // Undefined when the address contains the typed text.
  const [typed, setTyped] = useState<string>();
  const apply = (text: string) =>
    void onSearch(text).then(() => setTyped((latest) => (latest === text ? undefined : latest)));
  const search = useEffectEvent(apply);
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => search(typed), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      type="search"
      dir="auto"
      aria-label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      value={typed ?? text}
      onChange={(event) => setTyped(event.target.value)}
      // What the person does next, such as saving the view, refers to the typed text.
      onBlur={() => typed !== undefined && apply(typed)}
      className={cx(INPUT_CLASS, className)}
    />
  );
}
