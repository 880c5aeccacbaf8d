import { formatBytes, parseJson } from "../../format/index.ts";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { FormattedText } from "../../parts/FormattedText.tsx";
import type { PromptMessage } from "./prompts.ts";

/** A tool result is data, so it is shown raw and never as Markdown. */
const Result = ({ message: { call_id, text } }: { message: PromptMessage }) => (
  <ValueBlock label={`Result of the call ${call_id}, as it was sent`} value={text} />
);

function Message({ message, isRaw }: { message: PromptMessage; isRaw: boolean }) {
  const { role, text, calls = [], attachments = [], opaque } = message;
  return (
    <li className={`message stack ${role}`}>
      <p className="quiet">{role}</p>
      {role === "tool" ? (
        <Result message={message} />
      ) : (
        (text || calls.length === 0) && <FormattedText text={text || "(no text)"} isRaw={isRaw} />
      )}
      {calls.map(({ id, name, arguments: args }) => (
        <ValueBlock key={id} label={`Calls ${name} (${id})`} value={isRaw ? args : parseJson(args)} />
      ))}
      {opaque != null && (
        <details>
          <summary>Data of the provider, sent back as it came</summary>
          <ValueBlock label="Data of the provider" value={opaque} />
        </details>
      )}
      {attachments.map(({ filename, mime_type, bytes, sha256 }) => (
        <p key={sha256 + filename} className="quiet">
          Attached: {filename}, {mime_type}, {formatBytes(bytes)}
        </p>
      ))}
    </li>
  );
}

export const PromptMessages = ({ messages, isRaw }: { messages: PromptMessage[]; isRaw: boolean }) => (
  <ol className="plain stack">
    {messages.map((message, n) => (
      // messages never change, so their index identifies them
      <Message key={n} message={message} isRaw={isRaw} />
    ))}
  </ol>
);
