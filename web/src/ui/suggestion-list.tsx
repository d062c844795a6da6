import { cx } from "./cx";

export interface Suggestion {
  value: string;
  detail: string;
}

/** The list of suggestions of a text field, which handles the keys and keeps the focus. */
export function SuggestionList({
  id,
  label,
  suggestions,
  active,
  hidden,
  onSelect,
}: {
  id: string;
  label: string;
  suggestions: Suggestion[];
  /** Index of the suggestion that Enter selects; -1 for none. */
  active: number;
  hidden: boolean;
  onSelect: (suggestion: Suggestion) => void;
}) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label={label}
      hidden={hidden}
      className="absolute z-20 mt-1 max-h-72 w-full animate-rise overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised"
    >
      {suggestions.map((suggestion, index) => (
        // The text field handles keys and keeps the focus.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          key={suggestion.value}
          id={optionId(id, index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={cx(
            "flex cursor-pointer items-baseline justify-between gap-4 rounded-sm px-2.5 py-1.5",
            index === active ? "bg-accent-soft" : "hover:bg-sunken",
          )}
          // Prevents the field from losing the focus, which would close the list before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onSelect(suggestion)}
        >
          <bdi className="shrink-0 font-medium max-sm:shrink max-sm:truncate">
            {suggestion.value}
          </bdi>
          <bdi className="truncate font-mono text-xs text-ink-3">{suggestion.detail}</bdi>
        </div>
      ))}
    </div>
  );
}

/** Id of the option at an index, for `aria-activedescendant`. */
export const optionId = (listId: string, index: number) => `${listId}-${index}`;
