import type { Trace } from "../../api/trace.ts";
import { formatCount } from "../../format/index.ts";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { useRawText } from "../../parts/FormattedText.tsx";
import { PromptMessages } from "./PromptMessages.tsx";
import { countPrompts, roundMessages, precedingTools } from "./prompts.ts";
import { changeView } from "./search.ts";

/** The trace of the request, in which each model call has its own prompt. */
function ChooseCall({ trace, nth, count }: { trace: Trace; nth: number; count: number }) {
  if (count === 1) return null;
  const names = Array.from({ length: count }, (_, n) => String(n + 1));
  return (
    <Tabs
      label="Call of the model"
      names={names}
      current={String(nth + 1)}
      title={(name) => {
        const tools = precedingTools(trace, Number(name) - 1);
        return `Call ${name}${tools && `, after ${tools}`}`;
      }}
      tab={(name, rest) => (
        <Tab
          to="/requests/$turnId"
          params={{ turnId: trace.id }}
          search={changeView({ prompt: Number(name) })}
          resetScroll={false}
          {...rest}
        />
      )}
    />
  );
}

/** From the second call on the model chooses itself whether it calls a tool. */
const settingsOf = (settings: Record<string, unknown>, nth: number) =>
  nth === 0 ? settings : { ...settings, tool_choice: "auto" };

interface Props {
  trace: Trace;
  /** The model call whose prompt is shown, from 1; undefined means the last one. */
  chosen?: number | undefined;
}

/** The prompt of each model call: instructions, earlier conversation, new messages, tool calls with their results, and settings. */
export function PromptCard({ trace, chosen }: Props) {
  const { isRaw, toggle } = useRawText();
  if (!trace.prompt)
    return (
      <section className="card part" aria-labelledby="prompt">
        <h2 id="prompt">Prompt</h2>
        <p className="quiet">It has been deleted.</p>
      </section>
    );
  const { instructions, messages, forgotten_turns, turns_not_shown, ...settings } = trace.prompt;
  const count = countPrompts(trace);
  const nth = Math.min(Math.max(chosen ?? count, 1), count) - 1;
  const before = messages.filter(({ turn_id }) => turn_id !== trace.id);
  const own = messages.filter(({ turn_id }) => turn_id === trace.id);
  return (
    <section className="card part" aria-labelledby="prompt">
      <div className="title-line">
        <h2 id="prompt">Prompt</h2>
        {toggle}
      </div>
      <ChooseCall trace={trace} nth={nth} count={count} />
      {instructions && <ValueBlock label="Instructions" value={instructions} />}
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
          <PromptMessages messages={before} isRaw={isRaw} />
        </details>
      )}
      <PromptMessages messages={[...own, ...roundMessages(trace, nth)]} isRaw={isRaw} />
      <details>
        <summary>Settings</summary>
        <ValueBlock label="As they were sent" value={settingsOf(settings, nth)} />
      </details>
    </section>
  );
}
