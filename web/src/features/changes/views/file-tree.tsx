import { Check, File, Folder } from "lucide-react";

import type { ChangedFile } from "@/api/types";
import { visibleName } from "@/model/visible-name";
import { cx } from "@/ui/cx";

import type { TreeNode } from "../model/tree";
import { StatusMark } from "./status-mark";

interface TreeProps {
  nodes: TreeNode<ChangedFile>[];
  current: string | undefined;
  isViewed: (file: ChangedFile) => boolean;
  commentCounts: ReadonlyMap<string, number>;
  onOpen: (file: ChangedFile) => void;
}

/** The changed files in their folders. */
export function FileTree(props: TreeProps) {
  return (
    <ul className="space-y-px">
      {props.nodes.map((node) =>
        node.kind === "folder" ? (
          <li key={`folder ${node.path}`}>
            <details open>
              <summary className="flex cursor-pointer items-center gap-1.5 rounded px-1.5 py-0.5 text-sm text-ink-2 hover:bg-idle-soft">
                <Folder aria-hidden className="size-3.5 shrink-0" />
                <span dir="auto" className="truncate">
                  {visibleName(node.name)}
                </span>
              </summary>
              <div className="ml-2.5 border-l border-line pl-1.5">
                <FileTree {...props} nodes={node.children} />
              </div>
            </details>
          </li>
        ) : (
          <li key={node.file.path}>
            <FileButton {...props} name={node.name} file={node.file} />
          </li>
        ),
      )}
    </ul>
  );
}

function FileButton({
  name,
  file,
  current,
  isViewed,
  commentCounts,
  onOpen,
}: TreeProps & { name: string; file: ChangedFile }) {
  const viewed = isViewed(file);
  const comments = commentCounts.get(file.path) ?? 0;
  return (
    <button
      type="button"
      aria-current={file.path === current}
      title={file.path}
      onClick={() => onOpen(file)}
      className={cx(
        "flex w-full items-center gap-1.5 rounded px-1.5 py-0.5 text-left text-sm hover:bg-idle-soft",
        "aria-[current=true]:bg-accent-soft",
        viewed && "text-ink-3",
      )}
    >
      {viewed ? (
        <Check aria-label="Viewed" className="size-3.5 shrink-0 text-ok" />
      ) : (
        <File aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      )}
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {visibleName(name)}
      </span>
      {comments > 0 && (
        <span className="rounded-full bg-accent-soft px-1.5 text-xs">
          {comments}
          <span className="sr-only"> {comments === 1 ? "comment" : "comments"}</span>
        </span>
      )}
      <StatusMark status={file.status} />
    </button>
  );
}
