import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { configureProvider, listProviders, readProvider, removeProvider, type Provider } from "../../api/settings.ts";
import { formatCount } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { Options, wordChoices } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formLines, formText } from "../../parts/formText.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { Time } from "../../parts/Time.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { useChange } from "../../parts/useChange.ts";

/** Providers whose address the service knows. */
const KNOWN = ["openai", "anthropic", "google"];
/** Search endpoints; each has one model. */
const EMBEDDINGS = "embeddings";
const ENDPOINTS = [EMBEDDINGS, "reranking"];

/** `model tokens` on each line. The service refuses an invalid number. */
function readWindows(lines: string[]): Record<string, number | string> | null {
  const windows = lines.map((line) => {
    const [, model = line, tokens = ""] = /^(.*?)\s+(\S+)$/.exec(line.trim()) ?? [];
    return [model, Number(tokens) || tokens] as const;
  });
  return windows.length > 0 ? Object.fromEntries(windows) : null;
}
const writeWindows = (windows: Record<string, number>): string =>
  Object.entries(windows)
    .map(([model, tokens]) => `${model} ${tokens}`)
    .join("\n");

const columns = (removal: Action<string>): Columns<Provider> => [
  {
    title: "Provider",
    cell: ({ name, base_url }) => (
      <>
        <Link to="/settings" search={{ section: "providers", edit: name }} data-row>
          {name}
        </Link>
        {base_url && (
          <>
            <br />
            <span className="quiet">{base_url}</span>
          </>
        )}
      </>
    ),
  },
  {
    title: "Models",
    cell: ({ models, model }) => model ?? (models ? formatCount(models.length, "model") : "those that it lists"),
  },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
  removalColumn<Provider>(removal, ({ name }) => ({
    id: name,
    question: `Remove the provider “${name}”? Its models cannot be asked any more, and its API key is forgotten.`,
  })),
];

const Name = ({ onName }: { onName: (name: string) => void }) => (
  <label>
    <span>Name</span>
    <span className="quiet">
      The first part of its models’ names: {KNOWN.join(", ")}, or another one. For search: {ENDPOINTS.join(" or ")}.
    </span>
    <input
      name="name"
      required
      maxLength={64}
      list="known-providers"
      autoComplete="off"
      spellCheck={false}
      onChange={({ target }) => onName(target.value.trim())}
    />
    <datalist id="known-providers">
      {[...KNOWN, ...ENDPOINTS].map((name) => (
        <option key={name}>{name}</option>
      ))}
    </datalist>
  </label>
);

const Address = ({ provider, isRequired }: { provider: Provider | undefined; isRequired: boolean }) => (
  <label>
    <span>Address of its API {!isRequired && <span className="quiet">(optional for {KNOWN.join(", ")})</span>}</span>
    <input
      name="base_url"
      type="url"
      required={isRequired}
      maxLength={2_000}
      defaultValue={provider?.base_url ?? ""}
      placeholder="https://…/v1"
    />
  </label>
);

/** The only model of a search endpoint. */
const EndpointFields = ({ name, provider }: { name: string; provider: Provider | undefined }) => (
  <>
    <FormField label="Model">
      <input name="model" required maxLength={200} spellCheck={false} defaultValue={provider?.model ?? ""} />
    </FormField>
    {name === EMBEDDINGS && (
      <FormField label="Numbers of a vector" hint="As its model makes them: 1536, for example.">
        <input name="dimensions" type="number" required min={1} defaultValue={provider?.dimensions ?? ""} />
      </FormField>
    )}
  </>
);

const ModelFields = ({ provider }: { provider: Provider | undefined }) => (
  <>
    <FormField label="Models, one in each line" note="optional: those that it lists">
      <textarea name="models" rows={3} spellCheck={false} defaultValue={provider?.models?.join("\n")} />
    </FormField>
    <FormField label="API">
      <select name="format" defaultValue={provider?.format ?? ""}>
        <option value="">the default</option>
        <Options choices={wordChoices(KNOWN)} />
      </select>
    </FormField>
    <FormField label="Context windows" note="optional: a model and its tokens in each line">
      <textarea
        name="context_windows"
        rows={2}
        spellCheck={false}
        placeholder="my-model 32000"
        defaultValue={writeWindows(provider?.context_windows ?? {})}
      />
    </FormField>
  </>
);

function ProviderForm({ provider }: { provider: Provider | undefined }) {
  const [typed, setTyped] = useState("");
  const name = provider?.name ?? typed;
  const isEndpoint = ENDPOINTS.includes(name);
  const { send, formKey } = useSaveForm({
    kind: "provider",
    edit: provider?.name,
    back: { to: "/settings", search: { section: "providers" } },
    save: async (form) => {
      // this form does not show the settings of another provider
      if (!provider && (await readProvider(name)))
        throw new OverwriteRefusal(`the provider ${name}`, {
          to: "/settings",
          search: { section: "providers", edit: name },
        });
      const models = formLines(form, "models");
      await configureProvider(name, {
        api_key: formText(form, "api_key").trim(),
        base_url: formText(form, "base_url").trim() || null,
        models: models.length > 0 ? models : null,
        format: formText(form, "format") || null,
        context_windows: readWindows(formLines(form, "context_windows")),
        model: formText(form, "model").trim() || null,
        dimensions: Number(formText(form, "dimensions")) || null,
      });
      setTyped("");
    },
  });
  return (
    <Form
      key={`${provider?.name} ${formKey}`}
      submit={provider ? `Save ${provider.name}` : "Add provider"}
      done={provider ? undefined : "Saved."}
      send={send}
    >
      <h2>{provider ? `Change ${provider.name}` : "Add a provider"}</h2>
      {!provider && <Name onName={setTyped} />}
      <label>
        <span>API key</span>
        <span className="quiet">
          {provider
            ? "Enter it again: the service keeps it sealed and shows it to nobody."
            : "It is never shown again."}
        </span>
        <input name="api_key" type="password" required maxLength={4_096} autoComplete="off" />
      </label>
      <Address provider={provider} isRequired={isEndpoint} />
      {isEndpoint ? <EndpointFields name={name} provider={provider} /> : <ModelFields provider={provider} />}
    </Form>
  );
}

/** The organization's model providers. */
export function Providers({ edit }: { edit: string | undefined }) {
  const providers = useQuery(listProviders);
  const removal = useChange("provider", removeProvider);
  return (
    <QueryResult query={providers} what="providers">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <EmptyState title="There are no providers">
              <ol>
                <li>Get an API key from OpenAI, Anthropic, Google, or any service with the API of OpenAI.</li>
                <li>Add the provider below. Its models can be asked at once.</li>
                <li>Until then, the models “offline/…” answer without a provider.</li>
              </ol>
            </EmptyState>
          ) : (
            <Table caption="Providers" columns={columns(removal)} rows={data} rowKey={({ name }) => name} />
          )}
          <ProviderForm provider={data.find(({ name }) => name === edit)} />
        </>
      )}
    </QueryResult>
  );
}
