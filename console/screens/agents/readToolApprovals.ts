import type { Assignee, ToolApproval } from "../../api/toolApproval.ts";
import { FieldError } from "../../format/FieldError.ts";
import { formText } from "../../parts/formText.ts";
import { readSpan } from "../../parts/SpanField.tsx";

type Condition = NonNullable<ToolApproval["when"]>;
type Value = Extract<Condition, { not_in: unknown }>["not_in"][number];

const words = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** `true` becomes a boolean and `12` a number; other text stays a string. */
function readValue(text: string): Value {
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** `group:finance`, `role:admin`, or an e-mail address. */
function readAssignee(text: string): Assignee {
  const [kind, name] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1).trim()];
  if (kind === "group") return { group: name };
  if (kind === "role") return { role: name };
  return { person: text };
}

export const writeAssignee = (assignee: Assignee): string => {
  if ("person" in assignee) return assignee.person;
  return "group" in assignee ? `group:${assignee.group}` : `role:${assignee.role}`;
};

function readCondition(form: FormData, tool: string): Condition | null {
  const kind = formText(form, `approval-kind-${tool}`);
  if (kind === "always" || kind === "") return null;
  const read = (part: "argument" | "value") => {
    const field = `approval-${part}-${tool}`;
    const text = formText(form, field).trim();
    if (text === "") throw new FieldError(field, `The condition of ${tool} needs an argument and a value.`);
    return text;
  };
  const [argument, value] = [read("argument"), read("value")];
  if (kind === "not_in") return { argument, not_in: words(value).map(readValue) };
  if (!Number.isFinite(Number(value)))
    throw new FieldError(`approval-value-${tool}`, `The condition of ${tool} needs a number.`);
  return { argument, above: Number(value) };
}

/** The entered rules for the agent's tools. */
export function readToolApprovals(form: FormData, tools: string[]): Record<string, ToolApproval> {
  const asking = form.getAll("approvals").filter((name): name is string => typeof name === "string");
  return Object.fromEntries(
    asking
      .filter((tool) => tools.includes(tool))
      .map((tool) => {
        const rule: ToolApproval = {
          assignees: words(formText(form, `approval-assignees-${tool}`)).map(readAssignee),
          self_approval: form.has(`approval-self-${tool}`),
          allow_api_key: form.has(`approval-key-${tool}`),
          expires_in_seconds: readSpan(form, `approval-time-${tool}`, `${tool} waits`),
          when: readCondition(form, tool),
        };
        return [tool, rule];
      }),
  );
}
