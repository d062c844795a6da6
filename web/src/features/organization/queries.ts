import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import type { OrganizationSettings } from "@/api/types";
import { useChange } from "@/api/use-change";

export const organizationSettingsQuery = queryOptions({
  queryKey: ["organization-settings"],
  queryFn: ({ signal }) => unwrap(api.GET("/organization/settings", { signal })),
});

export const useSetOrganizationSettings = () =>
  useChange(
    (body: OrganizationSettings) => unwrap(api.PUT("/organization/settings", { body })),
    "organization-settings",
  );

export const useSetFeatureFlag = () =>
  useChange(
    ({ key, enabled }: { key: string; enabled: boolean }) =>
      unwrap(api.PUT("/feature-flags/{key}", { params: { path: { key } }, body: { enabled } })),
    "feature-flags",
  );
