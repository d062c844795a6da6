import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";

import { useScope } from "@/api/scope";
import { Button } from "@/ui/button";
import { WithCode } from "@/ui/code";
import { Notice } from "@/ui/panel";

import { gatewayAdvice } from "../model/gateway-advice";
import { repositoriesQuery } from "../queries";

/** Says why there are no repositories to choose from. */
export function GatewayNotice({ machine }: { machine: string | undefined }) {
  const { data, error, isFetching, refetch } = useQuery(repositoriesQuery(useScope(), machine));
  const retry = (
    <Button variant="quiet" size="sm" busy={isFetching} onClick={() => void refetch()}>
      {!isFetching && <RotateCw aria-hidden />}
      Refresh
    </Button>
  );
  if (error) {
    const { title, text } = gatewayAdvice(error);
    return (
      <Notice title={title} action={retry}>
        <WithCode text={text} />
      </Notice>
    );
  }
  if (data?.length === 0) {
    return (
      <Notice title="No repositories found" action={retry}>
        Enter owner/repository. Loopgate clones it when the loop starts.
      </Notice>
    );
  }
  return null;
}
