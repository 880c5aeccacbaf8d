import { useQuery } from "@tanstack/react-query";
import { listTools, type AgentSettings } from "../../api/build.ts";
import { listCollections } from "../../api/knowledge.ts";
import { Check } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { ModelField } from "../../parts/ModelField.tsx";
import { ProjectField } from "../../parts/ProjectField.tsx";
import { readToolApprovals } from "./readToolApprovals.ts";
import { ToolApprovals } from "./ToolApprovals.tsx";

export const NEW_AGENT: AgentSettings = {
  name: "",
  model: null,
  instructions: "",
  tools: [],
  collections: null,
  reasoning: null,
  api_enabled: true,
  project_id: null,
  expose_tool_items: true,
  client_tools: false,
  tool_approvals: {},
};

const texts = (form: FormData, name: string): string[] =>
  form.getAll(name).filter((value): value is string => typeof value === "string");

/** The settings as they were entered. */
export const readAgent = (form: FormData): AgentSettings => ({
  name: formText(form, "name"),
  model: formText(form, "model").trim() || null,
  instructions: formText(form, "instructions"),
  tools: texts(form, "tools"),
  collections: form.has("limits_collections") ? texts(form, "collections") : null,
  reasoning: formText(form, "effort").trim() ? { effort: formText(form, "effort").trim() } : null,
  api_enabled: form.has("api_enabled"),
  project_id: formText(form, "project_id") || null,
  expose_tool_items: form.has("expose_tool_items"),
  client_tools: form.has("client_tools"),
  tool_approvals: readToolApprovals(form, texts(form, "tools")),
});

function Tools({ chosen }: { chosen: string[] }) {
  const { data } = useQuery(listTools);
  // of two tools of one name, the first is called
  const tools = [...new Map((data?.data ?? []).toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
  const known = new Set(tools.map(({ name }) => name));
  const others = data ? chosen.filter((name) => !known.has(name)) : [];
  return (
    // rendered again once the tools are known
    <fieldset key={String(data === undefined)}>
      <legend>Tools</legend>
      {/* a form that is saved before they are known keeps what was chosen */}
      {!data && chosen.map((name) => <input key={name} type="hidden" name="tools" value={name} />)}
      {tools.map(({ name, description }) => (
        <Check key={name} name="tools" value={name} label={name} hint={description} isChecked={chosen.includes(name)} />
      ))}
      {others.map((name) => (
        <Check key={name} name="tools" value={name} label={name} hint="is no longer there" isChecked />
      ))}
    </fieldset>
  );
}

function Collections({ chosen }: { chosen: string[] | null }) {
  const { data } = useQuery(listCollections);
  return (
    <fieldset key={String(data === undefined)}>
      <legend>Collections that it searches</legend>
      <Check
        name="limits_collections"
        label="Only these"
        hint="Otherwise all, also later ones."
        isChecked={chosen !== null}
      />
      {data?.data.map(({ id, slug, name }) => (
        <Check
          key={id}
          name="collections"
          value={slug}
          label={name}
          isChecked={chosen !== null && chosen.includes(slug)}
        />
      ))}
    </fieldset>
  );
}

/** The settings of an agent. */
export const AgentFields = ({ settings }: { settings: AgentSettings }) => (
  <>
    <div className="side-by-side">
      <label>
        Name
        <input name="name" required maxLength={200} defaultValue={settings.name} autoComplete="off" />
      </label>
      <div>
        <ModelField chosen={settings.model} maxLength={512} placeholder="provider/model, or an alias" />
      </div>
    </div>
    <label>
      Instructions
      <textarea name="instructions" rows={8} maxLength={100_000} defaultValue={settings.instructions} />
    </label>
    <Tools chosen={settings.tools} />
    <ToolApprovals tools={settings.tools} rules={settings.tool_approvals} />
    <Collections chosen={settings.collections} />
    <div className="side-by-side">
      <ProjectField name="project_id" note="optional" chosen={settings.project_id} />
      <label>
        <span>
          Reasoning effort <span className="quiet">(optional)</span>
        </span>
        <input name="effort" maxLength={50} defaultValue={settings.reasoning?.effort} placeholder="low" />
      </label>
    </div>
    <fieldset>
      <legend>Programs</legend>
      <Check name="api_enabled" label="May ask it" isChecked={settings.api_enabled} />
      <Check name="expose_tool_items" label="See its tool calls" isChecked={settings.expose_tool_items} />
      <Check name="client_tools" label="May bring tools that they run" isChecked={settings.client_tools} />
    </fieldset>
  </>
);
