import { type ComponentProps, type KeyboardEvent, useId, useState } from "react";

import { cx } from "./cx";
import { INPUT_CLASS } from "./field";
import { optionId, type Suggestion, SuggestionList } from "./suggestion-list";

interface SuggestInputProps extends Omit<ComponentProps<"input">, "value" | "onChange"> {
  value: string;
  suggestions: Suggestion[];
  /** Called for typed text (`selected` is false) and for a selected suggestion (`selected` is true). */
  onValue: (value: string, selected: boolean) => void;
}

/** Editable combobox: offers suggestions and accepts any other text. */
export function SuggestInput({
  value,
  suggestions,
  onValue,
  className,
  ...rest
}: SuggestInputProps) {
  const listId = useId();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // A field that already has a suggestion as its value offers all, so that another can be selected.
  const exact = suggestions.some((suggestion) => suggestion.value === value);
  const matches = exact
    ? suggestions
    : suggestions.filter(({ value: name }) =>
        name.toLowerCase().includes(value.trim().toLowerCase()),
      );
  const shown = open && matches.length > 0;

  const select = (suggestion: Suggestion | undefined) => {
    if (!suggestion) return;
    onValue(suggestion.value, true);
    setOpen(false);
    setActive(-1);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive(shown ? (active + step + matches.length) % matches.length : 0);
      setOpen(true);
    } else if (event.key === "Enter" && shown && active >= 0) {
      event.preventDefault();
      select(matches[active]);
    } else if (event.key === "Escape" && shown) {
      event.preventDefault();
      setOpen(false);
    }
  };

  return (
    <div className="relative">
      <input
        {...rest}
        type="text"
        role="combobox"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-expanded={shown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={shown && active >= 0 ? optionId(listId, active) : undefined}
        value={value}
        className={cx(INPUT_CLASS, className)}
        onChange={(event) => {
          onValue(event.target.value, false);
          setOpen(true);
          setActive(-1);
        }}
        onFocus={() => setOpen(true)}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <SuggestionList
        id={listId}
        label="Suggestions"
        suggestions={matches}
        active={active}
        hidden={!shown}
        onSelect={select}
      />
    </div>
  );
}
