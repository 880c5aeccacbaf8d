import { useState, type KeyboardEvent, type ReactNode } from "react";
import type { Question } from "../../api/answer.ts";
import type { Target } from "../../api/chat.ts";
import { AttachButton, AttachedFiles, AttachError, useAttachments } from "../../parts/Attach.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { useDraft } from "../../parts/useDraft.ts";

const MAX_FILES = 16;

type Files = Question["files"];

interface Props {
  /** The possible targets; only one in an agent's thread. */
  targets: Target[];
  target: Target | undefined;
  onTarget(target: Target): void;
  /** The conversation that the question belongs to. */
  place: string;
  /** The initial text of the field. */
  draft: string;
  /** No question can be sent, because one is being sent or answered. */
  isBusy: boolean;
  isSending: boolean;
  error: unknown;
  /** Sends a question. `onSent` receives the conversation once the service has accepted it, before its screen opens. */
  onAsk(text: string, files: Files, onSent: (thread: string) => void): void;
}

/** The draft of the next question of a conversation. */
const draftOf = (place: string, draft = ""): string => `question ${place} ${draft}`;

/** What was typed after a text while it was being sent. If the text itself was changed, all of it is the next one. */
const afterSent = (sent: string, now: string): string =>
  now.startsWith(sent) ? now.slice(sent.length).trimStart() : now;

function TargetChoice({ targets, target, onTarget }: Pick<Props, "targets" | "target" | "onTarget">) {
  const choose = (key: string) => {
    const chosen = targets.find((one) => one.key === key);
    if (chosen) onTarget(chosen);
  };
  const group = (label: string, list: Target[]) =>
    list.length > 0 && (
      <optgroup label={label}>
        {list.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </optgroup>
    );
  return (
    <label className="target">
      <span className="hidden-text">Answered by</span>
      <select value={target?.key ?? ""} onChange={(event) => choose(event.target.value)}>
        {group(
          "Agents",
          targets.filter(({ agent_id }) => agent_id),
        )}
        {group(
          "Models",
          targets.filter(({ model }) => model),
        )}
      </select>
    </label>
  );
}

/** A form that accepts dropped files. */
function DropForm({
  onFiles,
  onSubmit,
  children,
}: {
  onFiles(list: FileList): void;
  onSubmit(): void;
  children: ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  return (
    // dropping is an alternative: the button Attach works with the keyboard
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      className={`card composer${isOver ? " over" : ""}`}
      data-goes-on="question"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles(event.dataTransfer.files);
      }}
    >
      {children}
    </form>
  );
}

/** A new field may have a draft, or what the person was typing as the question before it was sent. */
const moveCaretToEnd = (field: HTMLTextAreaElement | null): void =>
  field?.setSelectionRange(field.value.length, field.value.length);

/** The field for a question. Enter sends it, Shift+Enter starts a new line. */
export function Composer({ targets, target, onTarget, place, draft, isBusy, isSending, error, onAsk }: Props) {
  const { text, write, newest, moveTo } = useDraft(draftOf(place, draft), draft);
  const { files, isUploading, refusal, add, remove, clear } = useAttachments(MAX_FILES);
  // the target may be known only a moment later, so the question waits for it
  const canAsk = !isBusy && !isUploading && text.trim() !== "";

  const submit = () => {
    if (!canAsk) return;
    onAsk(text.trim(), files, (thread) => {
      const rest = afterSent(text, newest());
      if (thread === place) write(rest);
      else moveTo(draftOf(thread), rest);
      clear(files);
    });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <DropForm onFiles={add} onSubmit={submit}>
      {error !== null && error !== undefined && <ErrorNotice error={error} />}
      <p className="quiet" role="status">
        {isSending && text !== "" && "Sending your question…"}
      </p>
      <AttachError refusal={refusal} />
      <AttachedFiles files={files} onRemove={remove} />
      <label className="question">
        <span className="hidden-text">Question</span>
        <textarea
          ref={moveCaretToEnd}
          rows={2}
          value={text}
          placeholder="Ask something, or drop files here"
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKey}
          data-filter
        />
      </label>
      <div className="composer-line">
        <TargetChoice targets={targets} target={target} onTarget={onTarget} />
        <AttachButton isPending={isUploading} onFiles={add} />
        <FocusableButton type="submit" className="button primary" isOff={!canAsk}>
          Ask
        </FocusableButton>
      </div>
    </DropForm>
  );
}
