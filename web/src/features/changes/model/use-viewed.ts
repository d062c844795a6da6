import type { ChangedFile } from "@/api/types";
import { useSharedValue } from "@/drafts/use-shared-value";

import { contentKey } from "./content-key";

/** Which files the person has viewed. A mark ends when the content of its file changes. */
export interface ViewedFiles {
  isViewed: (file: ChangedFile) => boolean;
  mark: (file: ChangedFile, viewed: boolean) => void;
}

/** Marks of a change request, stored in this browser. */
export function useViewed(page: string, repository: string): ViewedFiles {
  const { value, change } = useSharedValue<Record<string, string>>(
    page,
    `viewed ${repository}`,
    {},
  );
  return {
    isViewed: (file) => value[file.path] === contentKey(file),
    mark: (file, viewed) =>
      change((marks) => ({ ...marks, [file.path]: viewed ? contentKey(file) : "" })),
  };
}
