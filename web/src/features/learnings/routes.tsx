import { createRoute } from "@tanstack/react-router";

import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";

export const learningsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/learnings",
  component: lazyView(() => import("./views/learnings"), "LearningsPage"),
});
