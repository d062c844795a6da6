import { unwrap } from "@/api/client";
import type { OrganizationSettings } from "@/api/types";
import { useChange } from "@/api/use-change";

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
