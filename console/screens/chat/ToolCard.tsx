import type { ToolCall } from "../../api/chat.ts";
import { formatDuration, formatJson, parseJson } from "../../format/index.ts";
import { Status } from "../../parts/Status.tsx";

/** A tool that the answer used. */
export const ToolCard = ({ call: { name, arguments: args, status, duration_ms } }: { call: ToolCall }) => (
  <details className="tool">
    <summary>
      <code>{name}</code> <Status status={status} />
      {duration_ms !== null && <span className="quiet"> {formatDuration(duration_ms)}</span>}
    </summary>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre tabIndex={0} aria-label={`Arguments of ${name}`}>
      {formatJson(parseJson(args))}
    </pre>
  </details>
);
