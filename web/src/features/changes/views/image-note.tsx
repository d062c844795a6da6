import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useScope } from "@/api/scope";
import type { ChangedFile, RepositoryChanges } from "@/api/types";
import { fileSize } from "@/model/format";
import { Loaded } from "@/ui/loaded";
import { Skeleton } from "@/ui/panel";

import { byteCount, imageAddress } from "../model/image";
import { type ChangesLoop, imageQuery } from "../queries";

/** Both versions of a changed image, next to each other. */
export function ImageNote({
  loop,
  repository,
  file,
}: {
  loop: ChangesLoop;
  repository: RepositoryChanges;
  file: ChangedFile;
}) {
  const query = useQuery(imageQuery(useScope(), loop, repository, file));
  return (
    <Loaded query={query} pending={<Skeleton className="m-4 h-40" />}>
      {({ before, after }) => (
        <div className="grid gap-4 p-4 font-sans sm:grid-cols-2">
          {before !== undefined && <Version name="Before" content={before} path={file.path} />}
          {after !== undefined && <Version name="After" content={after} path={file.path} />}
        </div>
      )}
    </Loaded>
  );
}

function Version({ name, content, path }: { name: string; content: string; path: string }) {
  const [isBroken, setIsBroken] = useState(false);
  const address = imageAddress(content);
  return (
    <figure className="min-w-0 space-y-2">
      <figcaption className="text-sm text-ink-2">
        {name} · {fileSize(byteCount(content))}
      </figcaption>
      {address === undefined || isBroken ? (
        <p className="text-sm">Binary file. Its content is not an image.</p>
      ) : (
        <img
          src={address}
          alt={`${name}: ${path}`}
          onError={() => setIsBroken(true)}
          className="max-h-80 max-w-full border border-line"
        />
      )}
    </figure>
  );
}
