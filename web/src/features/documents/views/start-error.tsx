import { ApiError, messageOf } from "@/api/errors";
import { WithCode } from "@/ui/code";
import { Notice } from "@/ui/panel";

/** Error of a start on a plan. Names both versions if another one is current. */
export function StartError({ title, error }: { title: string; error: unknown }) {
  const { displayedVersion, currentVersion } = error instanceof ApiError ? error.data : {};
  const isChanged = typeof displayedVersion === "number" && typeof currentVersion === "number";
  return (
    <div className="order-last basis-full">
      <Notice tone="bad" title={title}>
        {isChanged && (
          <>
            The request was about version {displayedVersion}, and version {currentVersion} is
            current.{" "}
          </>
        )}
        <WithCode text={messageOf(error)} />
      </Notice>
    </div>
  );
}
