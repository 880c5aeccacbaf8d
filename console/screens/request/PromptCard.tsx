import type { Trace, TracedMessage } from "../../api/types.ts";
import { formatBytes, formatCount } from "../../format/index.ts";
import { Value } from "../../parts/Value.tsx";
import { useRawText, Words } from "../../parts/Words.tsx";

const Message = ({ message, isRaw }: { message: TracedMessage; isRaw: boolean }) => (
  <li className={`message ${message.role}`}>
    <p className="quiet">{message.role}</p>
    <Words text={message.text || "(no text)"} isRaw={isRaw} />
    {message.attachments.map(({ filename, mime_type, bytes, sha256 }) => (
      <p key={sha256 + filename} className="quiet">
        Attached: {filename}, {mime_type}, {formatBytes(bytes)}
      </p>
    ))}
  </li>
);

const Messages = ({ messages, isRaw }: { messages: TracedMessage[]; isRaw: boolean }) => (
  <ol className="plain stack">
    {messages.map((message, n) => (
      // messages never change, so their place names them
      <Message key={n} message={message} isRaw={isRaw} />
    ))}
  </ol>
);

/** What the model received: instructions, the conversation before, the new messages, and the settings. */
export function PromptCard({ trace }: { trace: Trace }) {
  const { isRaw, toggle } = useRawText();
  if (!trace.prompt)
    return (
      <section className="card part" aria-labelledby="prompt">
        <h2 id="prompt">Prompt</h2>
        <p className="quiet">It has been deleted.</p>
      </section>
    );
  const { instructions, messages, forgotten_turns, turns_not_shown, ...settings } = trace.prompt;
  const before = messages.filter(({ turn_id }) => turn_id !== trace.id);
  const asked = messages.filter(({ turn_id }) => turn_id === trace.id);
  return (
    <section className="card part" aria-labelledby="prompt">
      <div className="title-line">
        <h2 id="prompt">Prompt</h2>
        {toggle}
      </div>
      {instructions && <Value label="Instructions" value={instructions} />}
      {forgotten_turns > 0 && (
        <p className="notice warn">
          {formatCount(forgotten_turns, "earlier request")} of the conversation {forgotten_turns === 1 ? "has" : "have"}{" "}
          been deleted since.
        </p>
      )}
      {turns_not_shown > 0 && (
        <p className="quiet">
          {formatCount(turns_not_shown, "older request")} of the conversation {turns_not_shown === 1 ? "is" : "are"} not
          shown.
        </p>
      )}
      {before.length > 0 && (
        <details>
          <summary>{formatCount(before.length, "earlier message")}</summary>
          <Messages messages={before} isRaw={isRaw} />
        </details>
      )}
      <Messages messages={asked} isRaw={isRaw} />
      <details>
        <summary>Settings</summary>
        <Value label="As they were sent" value={settings} />
      </details>
    </section>
  );
}
