import { useQuery } from "@tanstack/react-query";
import { listTools, type AgentSettings } from "../../api/build.ts";
import { listCollections } from "../../api/knowledge.ts";
import { Checkbox } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText, formTexts } from "../../parts/formText.ts";
import { LimitCheck, LimitSwitch } from "../../parts/LimitSwitch.tsx";
import { readLimit } from "../../parts/readLimit.ts";
import { ModelField } from "../../parts/ModelField.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { ProjectField } from "../../parts/ProjectField.tsx";
import { UnlistedChoices } from "../../parts/UnlistedChoices.tsx";
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

const ONLY_THESE = "Only these";

/** The entered settings. Throws an Error that names conflicting fields. */
export const readAgent = (form: FormData): AgentSettings => ({
  name: formText(form, "name"),
  model: formText(form, "model").trim() || null,
  instructions: formText(form, "instructions"),
  tools: formTexts(form, "tools"),
  collections: readLimit(formTexts(form, "collections"), {
    field: "collections",
    isOn: form.has("limits_collections"),
    name: ONLY_THESE,
    what: "collections",
  }),
  reasoning: formText(form, "reasoning.effort").trim() ? { effort: formText(form, "reasoning.effort").trim() } : null,
  api_enabled: form.has("api_enabled"),
  project_id: formText(form, "project_id") || null,
  expose_tool_items: form.has("expose_tool_items"),
  client_tools: form.has("client_tools"),
  tool_approvals: readToolApprovals(form, formTexts(form, "tools")),
});

function Tools({ chosen }: { chosen: string[] }) {
  const { data } = useQuery(listTools);
  // of two tools with one name, the first is called
  const tools = [...new Map((data?.data ?? []).toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
  return (
    // remounts once the tools are known
    <fieldset key={String(data === undefined)}>
      <legend>Tools</legend>
      {tools.map(({ name, description }) => (
        <Checkbox
          key={name}
          name="tools"
          value={name}
          label={name}
          hint={description}
          isChecked={chosen.includes(name)}
        />
      ))}
      <UnlistedChoices
        name="tools"
        chosen={chosen}
        listed={data && tools.map(({ name }) => name)}
        isWhole={data?.isWhole ?? false}
      />
    </fieldset>
  );
}

/** A checkbox for each collection. Selected collections without a checkbox stay selected. */
function CollectionChecks({ chosen }: { chosen: string[] }) {
  const collections = useQuery(listCollections);
  const { data } = collections;
  return (
    <div key={String(data === undefined)} className="entries">
      <QueryResult query={collections} what="collections">
        {(all) =>
          all.data.map(({ id, slug, name }) => (
            <Checkbox key={id} name="collections" value={slug} label={name} isChecked={chosen.includes(slug)} />
          ))
        }
      </QueryResult>
      <UnlistedChoices
        name="collections"
        chosen={chosen}
        listed={data?.data.map(({ slug }) => slug)}
        isWhole={data?.isWhole ?? false}
      />
    </div>
  );
}

const Collections = ({ chosen }: { chosen: string[] | null }) => (
  <fieldset>
    <legend>Collections that it searches</legend>
    <LimitSwitch
      isLimited={chosen !== null}
      switches={(state) => (
        <LimitCheck name="limits_collections" label={ONLY_THESE} hint="Otherwise all, also later ones." {...state} />
      )}
    >
      {(isEmptied) => <CollectionChecks chosen={isEmptied ? [] : (chosen ?? [])} />}
    </LimitSwitch>
  </fieldset>
);

export const AgentFields = ({ settings }: { settings: AgentSettings }) => (
  <>
    <div className="side-by-side">
      <FormField label="Name">
        <input name="name" required maxLength={200} defaultValue={settings.name} autoComplete="off" />
      </FormField>
      <div>
        <ModelField chosen={settings.model} maxLength={512} placeholder="provider/model, or an alias" />
      </div>
    </div>
    <FormField label="Instructions">
      <textarea name="instructions" rows={8} maxLength={100_000} defaultValue={settings.instructions} />
    </FormField>
    <Tools chosen={settings.tools} />
    <ToolApprovals tools={settings.tools} rules={settings.tool_approvals} />
    <Collections chosen={settings.collections} />
    <div className="side-by-side">
      <ProjectField name="project_id" note="optional" chosen={settings.project_id} />
      <FormField label="Reasoning effort" note="optional">
        <input name="reasoning.effort" maxLength={50} defaultValue={settings.reasoning?.effort} placeholder="low" />
      </FormField>
    </div>
    <fieldset>
      <legend>Programs</legend>
      <Checkbox name="api_enabled" label="May ask it" isChecked={settings.api_enabled} />
      <Checkbox name="expose_tool_items" label="See its tool calls" isChecked={settings.expose_tool_items} />
      <Checkbox name="client_tools" label="May bring tools that they run" isChecked={settings.client_tools} />
    </fieldset>
  </>
);
