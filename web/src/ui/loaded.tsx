import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ErrorView } from "./error-view";

/** Content of a part of a page that needs the data of a query. */
export function Loaded<Data>({
  query: { data, error, refetch },
  pending,
  children,
}: {
  query: UseQueryResult<Data>;
  /** Shape of the content while the data is loading. */
  pending: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  return error ? <ErrorView error={error} onRetry={() => void refetch()} /> : pending;
}
