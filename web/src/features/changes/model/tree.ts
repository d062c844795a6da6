/** The tree of changed files. */

export interface TreeFolder<File> {
  kind: "folder";
  /** Path of the folder. */
  path: string;
  /** Name; of a folder that contains only another folder, both names. */
  name: string;
  children: TreeNode<File>[];
}

export interface TreeFile<File> {
  kind: "file";
  name: string;
  file: File;
}

export type TreeNode<File> = TreeFolder<File> | TreeFile<File>;

/** Groups files by their folders. Folders precede files; both keep their order. */
export function fileTree<File extends { path: string }>(
  files: readonly File[],
  folder = "",
): TreeNode<File>[] {
  const folders = new Map<string, File[]>();
  const own: TreeNode<File>[] = [];
  for (const file of files) {
    const [name = "", ...rest] = file.path.slice(folder.length).split("/");
    if (rest.length === 0) own.push({ kind: "file", name, file });
    else folders.set(name, [...(folders.get(name) ?? []), file]);
  }
  const nodes = [...folders].map(([name, inside]) => {
    const path = `${folder}${name}`;
    return joined({ kind: "folder", path, name, children: fileTree(inside, `${path}/`) });
  });
  return [...nodes, ...own];
}

function joined<File>(folder: TreeFolder<File>): TreeFolder<File> {
  const [only, ...others] = folder.children;
  if (only?.kind !== "folder" || others.length > 0) return folder;
  return { ...only, name: `${folder.name}/${only.name}` };
}

/** Returns the files in the order of the tree. */
export function filesOf<File>(nodes: readonly TreeNode<File>[]): File[] {
  return nodes.flatMap((node) => (node.kind === "file" ? [node.file] : filesOf(node.children)));
}
