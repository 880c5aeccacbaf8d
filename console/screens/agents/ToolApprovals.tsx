import { useState } from "react";
import type { ToolApproval } from "../../api/toolApproval.ts";
import { Checkbox } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { SpanField } from "../../parts/SpanField.tsx";
import { writeAssignee } from "./readToolApprovals.ts";

const NEW_RULE: ToolApproval = {
  assignees: [],
  self_approval: true,
  allow_api_key: false,
  expires_in_seconds: null,
  when: null,
};

const kindOf = ({ when }: ToolApproval): string => (when === null ? "always" : "above" in when ? "above" : "not_in");
const valueOf = ({ when }: ToolApproval): string => {
  if (when === null) return "";
  return "above" in when ? String(when.above) : when.not_in.join(", ");
};

/** When calls of a tool need an approval, by whom, and for how long they wait. */
function Rule({ tool, rule }: { tool: string; rule: ToolApproval }) {
  const [kind, setKind] = useState(kindOf(rule));
  const { when, assignees, expires_in_seconds, self_approval, allow_api_key } = rule;
  return (
    <div className="repeated">
      <div className="side-by-side">
        <FormField label={`${tool} asks`}>
          <select name={`approval-kind-${tool}`} value={kind} onChange={({ target }) => setKind(target.value)}>
            <option value="always">always</option>
            <option value="above">when an argument is above</option>
            <option value="not_in">when an argument is none of</option>
          </select>
        </FormField>
        {kind !== "always" && (
          <>
            <FormField label={`Argument of ${tool}`}>
              <input name={`approval-argument-${tool}`} required maxLength={200} defaultValue={when?.argument} />
            </FormField>
            <label>
              {kind === "above" ? `Number for ${tool}` : `Values for ${tool}, with commas`}
              <input name={`approval-value-${tool}`} required defaultValue={valueOf(rule)} />
            </label>
          </>
        )}
        <FormField label={`Who decides about ${tool}`}>
          <input
            name={`approval-assignees-${tool}`}
            placeholder="everybody who may; or ann@example.org, group:finance"
            defaultValue={assignees.map(writeAssignee).join(", ")}
          />
        </FormField>
        <SpanField
          name={`approval-time-${tool}`}
          label={`${tool} waits`}
          hint="7 days at most"
          value={expires_in_seconds ?? undefined}
        />
      </div>
      <Checkbox name={`approval-self-${tool}`} label="Who asked may decide" isChecked={self_approval} />
      <Checkbox name={`approval-key-${tool}`} label="API keys may decide" isChecked={allow_api_key} />
    </div>
  );
}

/** The tools whose calls wait for an approval. Newly selected tools appear once they are saved. */
export function ToolApprovals({ tools, rules }: { tools: string[]; rules: Record<string, ToolApproval> }) {
  const [asking, setAsking] = useState(() => new Set(Object.keys(rules)));
  const change = (tool: string, asks: boolean) =>
    setAsking((before) => new Set(asks ? [...before, tool] : [...before].filter((name) => name !== tool)));
  if (tools.length === 0) return null;
  return (
    <fieldset data-params="tool_approvals">
      <legend>Tools that wait for a person</legend>
      {tools.map((tool) => (
        <div key={tool}>
          <label className="check">
            <input
              type="checkbox"
              name="approvals"
              value={tool}
              checked={asking.has(tool)}
              onChange={({ target }) => change(tool, target.checked)}
            />{" "}
            {tool} runs only after an approval
          </label>
          {asking.has(tool) && <Rule tool={tool} rule={rules[tool] ?? NEW_RULE} />}
        </div>
      ))}
    </fieldset>
  );
}
