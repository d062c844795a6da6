import { Skeleton } from "@/ui/panel";

import { CenteredPage } from "./centered-page";

export function LoadingPage({ title }: { title: string }) {
  return (
    <CenteredPage title={title}>
      <Skeleton className="h-28 w-full rounded-md" />
    </CenteredPage>
  );
}
