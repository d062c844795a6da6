/** Inserts a template into the text, and stores the text as one. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { DropdownMenu } from "radix-ui";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { announce } from "@/ui/announce";
import { Button } from "@/ui/button";
import { MENU_CLASS, MENU_ITEM_CLASS } from "@/ui/menu";

import { applyTemplate, BUILT_IN, type Template, useTemplates } from "../model/templates";

export function Templates({ text, onText }: { text: string; onText: (text: string) => void }) {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const { templates, isStored, add, remove } = useTemplates(me.id, me.organization.id);
  const apply = (template: Template) => onText(applyTemplate(text, template));
  const item = (template: Template) => (
    <Item key={template.name} onSelect={() => apply(template)}>
      {template.name}
    </Item>
  );
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button size="sm" variant="quiet">
          Templates
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={`${MENU_CLASS} max-w-80`}>
          {BUILT_IN.map(item)}
          {templates.length > 0 && (
            <DropdownMenu.Group>
              <DropdownMenu.Separator className="my-1 border-t border-line" />
              <DropdownMenu.Label className="px-2 py-1 text-xs text-ink-3">
                {isStored ? "Yours, in this browser" : "Yours, until you close the page"}
              </DropdownMenu.Label>
              {templates.map(item)}
            </DropdownMenu.Group>
          )}
          <DropdownMenu.Separator className="my-1 border-t border-line" />
          <Item
            isDisabled={text.trim() === ""}
            onSelect={() => {
              add(text);
              announce("The text was saved as a template.");
            }}
          >
            Save the text as a template
          </Item>
          {templates.length > 0 && (
            <DropdownMenu.Sub>
              <DropdownMenu.SubTrigger className={MENU_ITEM_CLASS}>
                Delete a template
              </DropdownMenu.SubTrigger>
              <DropdownMenu.Portal>
                <DropdownMenu.SubContent className={`${MENU_CLASS} max-w-80`}>
                  {templates.map(({ name }) => (
                    <Item key={name} onSelect={() => remove(name)}>
                      {name}
                    </Item>
                  ))}
                </DropdownMenu.SubContent>
              </DropdownMenu.Portal>
            </DropdownMenu.Sub>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item({
  isDisabled = false,
  onSelect,
  children,
}: {
  isDisabled?: boolean;
  onSelect: () => void;
  children: string;
}) {
  return (
    <DropdownMenu.Item
      disabled={isDisabled}
      className={`${MENU_ITEM_CLASS} data-disabled:opacity-55`}
      onSelect={onSelect}
    >
      <span dir="auto" className="truncate">
        {children}
      </span>
    </DropdownMenu.Item>
  );
}
