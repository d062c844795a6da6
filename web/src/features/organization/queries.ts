import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";
import type { OrganizationSettings } from "@/api/types";
import { useChange } from "@/api/use-change";

export const organizationSettingsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("organization-settings"),
    queryFn: ({ signal }) => unwrap(api.GET("/organization/settings", { signal })),
  });

export const useSetOrganizationSettings = () =>
  useChange(
    ({ api }, body: OrganizationSettings) => unwrap(api.PUT("/organization/settings", { body })),
    "organization-settings",
  );

export const useSetFeatureFlag = () =>
  useChange(
    ({ api }, { key, enabled }: { key: string; enabled: boolean }) =>
      unwrap(api.PUT("/feature-flags/{key}", { params: { path: { key } }, body: { enabled } })),
    "feature-flags",
  );
