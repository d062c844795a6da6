/** The text of a request, with files and `@file`. */
import { useQuery } from "@tanstack/react-query";
import { FileText, Image, Paperclip, X } from "lucide-react";
import { type KeyboardEvent, type RefObject, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { useScope } from "@/api/scope";
import { fileSize } from "@/model/format";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { Notice } from "@/ui/panel";
import { isSubmitKey } from "@/ui/submit-key";
import { optionId, SuggestionList } from "@/ui/suggestion-list";
import { useDelayed } from "@/ui/use-delayed";

import { addFiles, FILE_LIMITS, type RequestFile } from "../model/attachments";
import { insertMention, type Mention, mentionAt } from "../model/mention";
import { filesQuery } from "../queries";

const SEARCH_DELAY_MS = 150;

interface RequestTextProps {
  value: string;
  onValue: (value: string) => void;
  error: string | undefined;
  files: RequestFile[];
  /** Whether text and files are being sent, and cannot be changed. */
  isSending: boolean;
  /** Undefined if files cannot be attached. */
  onFiles: ((files: RequestFile[]) => void) | undefined;
  machine: string | undefined;
  /** Path of the clone whose files can be named. */
  clone: string | undefined;
  onSubmit: () => void;
}

export function RequestText({
  value,
  onValue,
  error,
  isSending,
  files,
  onFiles,
  machine,
  clone,
  onSubmit,
}: RequestTextProps) {
  const textarea = useRef<HTMLTextAreaElement>(null);
  const [problems, setProblems] = useState<string[]>([]);
  const [isDropping, setIsDropping] = useState(false);
  const mentions = useMentions(machine, clone, value, onValue, textarea);
  const add = (added: readonly File[]) => {
    if (!onFiles || isSending || added.length === 0) return;
    void addFiles(files, added).then((result) => {
      onFiles(result.files);
      setProblems(result.problems);
    });
  };
  return (
    <div>
      <Field
        label="Describe the change"
        error={error}
        hint={clone === undefined ? undefined : "Type @ to name a file of the repository"}
      >
        {(control) => (
          // A drop zone for the mouse only: the button attaches files by keyboard.
          // eslint-disable-next-line jsx-a11y/no-static-element-interactions
          <div
            className="relative"
            onDragOver={(event) => {
              if (!onFiles || !event.dataTransfer.types.includes("Files")) return;
              event.preventDefault();
              setIsDropping(true);
            }}
            onDragLeave={() => setIsDropping(false)}
            onDrop={(event) => {
              setIsDropping(false);
              if (event.dataTransfer.files.length === 0) return;
              // Without this, the browser opens the file instead of the page.
              event.preventDefault();
              add([...event.dataTransfer.files]);
            }}
          >
            <textarea
              {...control}
              {...mentions.attributes}
              ref={textarea}
              // The description is the purpose of the page, and no content precedes it.
              // eslint-disable-next-line jsx-a11y/no-autofocus
              autoFocus
              rows={8}
              readOnly={isSending}
              value={value}
              onChange={(event) => {
                onValue(event.target.value);
                mentions.follow(event.target);
              }}
              onSelect={(event) => mentions.follow(event.currentTarget)}
              onBlur={mentions.close}
              onPaste={(event) => {
                const pasted = [...event.clipboardData.files];
                if (pasted.length === 0 || !onFiles) return;
                event.preventDefault();
                add(pasted);
              }}
              onKeyDown={(event) => {
                if (isSubmitKey(event)) onSubmit();
                else mentions.onKeyDown(event);
              }}
              placeholder="Add a --version flag that prints the version from package.json. Cover it with a test."
              className={cx(
                INPUT_CLASS,
                "h-auto resize-y py-2.5 leading-relaxed",
                isDropping && "border-accent bg-accent-soft",
              )}
            />
            {mentions.list}
          </div>
        )}
      </Field>
      {onFiles && <Files files={files} isSending={isSending} onFiles={onFiles} onAdd={add} />}
      {problems.length > 0 && (
        <div className="mt-2">
          <Notice
            tone="warn"
            title={
              problems.length === 1 ? "A file was not attached" : "Some files were not attached"
            }
          >
            {problems.map((problem) => (
              <span key={problem} dir="auto" className="block wrap-anywhere">
                {problem}
              </span>
            ))}
          </Notice>
        </div>
      )}
    </div>
  );
}

function Files({
  files,
  isSending,
  onFiles,
  onAdd,
}: {
  files: RequestFile[];
  isSending: boolean;
  onFiles: (files: RequestFile[]) => void;
  onAdd: (files: readonly File[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="mt-2 flex flex-wrap items-center gap-2">
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ target }) => {
          onAdd([...(target.files ?? [])]);
          // So that the same file can be selected again after it was removed.
          target.value = "";
        }}
      />
      <Button size="sm" disabled={isSending} onClick={() => input.current?.click()}>
        <Paperclip aria-hidden />
        Attach files
      </Button>
      {files.length === 0 ? (
        <span className="text-sm text-ink-3">Or paste or drop them. {FILE_LIMITS}</span>
      ) : (
        <ul aria-label="Attached files" className="contents">
          {files.map((file) => (
            <li
              key={file.id}
              className="flex h-7.5 max-w-full items-center gap-1.5 rounded-md border border-line bg-surface pl-2 text-sm"
            >
              {file.type.startsWith("image/") ? (
                <Image aria-hidden className="size-4 shrink-0 text-ink-3" />
              ) : (
                <FileText aria-hidden className="size-4 shrink-0 text-ink-3" />
              )}
              <bdi className="truncate">{file.name}</bdi>
              <span className="text-ink-3">{fileSize(file.content.size)}</span>
              <button
                type="button"
                aria-label={`Remove ${file.name}`}
                disabled={isSending}
                className="grid size-7 place-items-center rounded-md text-ink-3 hover:text-ink"
                onClick={() => onFiles(files.filter(({ id }) => id !== file.id))}
              >
                <X aria-hidden className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Suggests files of the clone for the mention that the caret is in. */
function useMentions(
  machine: string | undefined,
  clone: string | undefined,
  text: string,
  onText: (text: string) => void,
  textarea: RefObject<HTMLTextAreaElement | null>,
) {
  const listId = useId();
  const [mention, setMention] = useState<Mention>();
  const [active, setActive] = useState(0);
  const wanted = mention?.query ?? "";
  const searched = useDelayed(wanted, SEARCH_DELAY_MS);
  const query = filesQuery(
    useScope(),
    machine,
    clone,
    mention && searched === wanted ? wanted : undefined,
  );
  const { data: found = [] } = useQuery(query);
  const isOpen = mention !== undefined && found.length > 0;
  const close = () => setMention(undefined);
  const select = (path: string) => {
    if (!mention) return;
    const next = insertMention(text, mention, path);
    // The caret is set before the next key is pressed.
    flushSync(() => {
      onText(next.text);
      close();
    });
    textarea.current?.setSelectionRange(next.caret, next.caret);
  };
  return {
    close,
    follow: ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) => {
      const next =
        clone !== undefined && selectionStart === selectionEnd
          ? mentionAt(value, selectionStart)
          : undefined;
      if (next?.query !== mention?.query || next?.start !== mention?.start) setActive(0);
      setMention(next);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (!isOpen) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const step = event.key === "ArrowDown" ? 1 : -1;
        setActive((active + step + found.length) % found.length);
      } else if (event.key === "Enter" || event.key === "Tab") {
        const path = found[active];
        if (path !== undefined) select(path);
      } else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    },
    attributes: {
      "aria-autocomplete": "list" as const,
      "aria-haspopup": "listbox" as const,
      "aria-controls": listId,
      "aria-activedescendant": isOpen ? optionId(listId, active) : undefined,
    },
    list: (
      <SuggestionList
        id={listId}
        label="Files"
        suggestions={found.map((path) => ({ value: path, detail: "" }))}
        active={active}
        hidden={!isOpen}
        onSelect={({ value }) => select(value)}
      />
    ),
  };
}
