import { MoreHorizontal } from "lucide-react";
import type { ComponentProps } from "react";

import { Button } from "@/ui/button";

/** Opens the menu of an entry. `title` names the entry. */
export function EntryMenuButton({
  title,
  ...rest
}: ComponentProps<typeof Button> & { title: string }) {
  return (
    <Button variant="quiet" size="icon" {...rest} aria-label={`Actions for ${title}`}>
      <MoreHorizontal aria-hidden />
    </Button>
  );
}
