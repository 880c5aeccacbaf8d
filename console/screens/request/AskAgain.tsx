import { Link } from "@tanstack/react-router";
import type { Trace } from "../../api/trace.ts";
import { useRole } from "../../api/useRole.ts";

/** Maximum characters of a question in an address. */
const MAX_ASKED = 2_000;

/** Opens the chat with the same agent or model, and the question in its field. Sends nothing by itself. */
export function AskAgain({ trace: { prompt, agent, model } }: { trace: Trace }) {
  const { mayWrite } = useRole();
  const question = prompt?.messages.findLast(({ role }) => role === "user")?.text;
  if (!mayWrite || !question || question.length > MAX_ASKED) return null;
  return (
    <Link
      className="button small"
      to="/chat"
      search={{ with: agent ? `agent:${agent.id}` : `model:${model}`, ask: question }}
    >
      Ask it again
    </Link>
  );
}
