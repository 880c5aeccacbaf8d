import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listSecrets, removeSecret, setSecret, type Secret } from "../../api/settings.ts";
import type { Action } from "../../parts/action.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { useChange } from "../../parts/useChange.ts";

const columns = (removal: Action<string>): Columns<Secret> => [
  {
    title: "Secret",
    cell: ({ name }) => (
      <Link className="mono" to="/settings" search={{ section: "secrets", edit: name }} data-row>
        {name}
      </Link>
    ),
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Got its value", cell: ({ updated_at }) => <Time at={updated_at} /> },
  removalColumn<Secret>(removal, ({ name }) => ({
    id: name,
    question: `Remove the secret ${name}? Scripts that read it fail.`,
  })),
];

function SecretForm({ secret }: { secret: Secret | undefined }) {
  const { send, formKey } = useSaveForm({
    kind: "secret",
    edit: secret?.name,
    back: { to: "/settings", search: { section: "secrets" } },
    save: async (form) => setSecret(secret?.name ?? formText(form, "name").trim(), formText(form, "value")),
  });
  return (
    <Form
      key={`${secret?.name} ${formKey}`}
      submit={secret ? `Replace the value of ${secret.name}` : "Set secret"}
      done={secret ? undefined : "Saved."}
      send={send}
    >
      <h2>{secret ? `A new value for ${secret.name}` : "Set a secret"}</h2>
      {!secret && (
        <FormField label="Name" hint="Letters, digits and underscores. A secret of this name gets the new value.">
          <input name="name" required maxLength={64} autoComplete="off" spellCheck={false} placeholder="CRM_TOKEN" />
        </FormField>
      )}
      <FormField label="Value" hint="It is never shown again, and hidden in logs and results.">
        <textarea
          name="value"
          rows={2}
          required
          minLength={4}
          maxLength={16_384}
          autoComplete="off"
          spellCheck={false}
        />
      </FormField>
    </Form>
  );
}

/** Values that the organization's scripts and workflows may read by name. */
export function Secrets({ edit }: { edit: string | undefined }) {
  const secrets = useQuery(listSecrets);
  const removal = useChange("secret", removeSecret);
  return (
    <QueryResult query={secrets} what="secrets">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <EmptyState title="There are no secrets">
              <ol>
                <li>Set a secret below, such as the token of a service that a workflow calls.</li>
                <li>
                  Name it in the <code>secrets</code> of the script’s <code>meta</code>.
                </li>
                <li>
                  Read it in a step: <code>await ctx.secrets.get("CRM_TOKEN")</code>
                </li>
              </ol>
            </EmptyState>
          ) : (
            <Table caption="Secrets" columns={columns(removal)} rows={data} rowKey={({ name }) => name} />
          )}
          <SecretForm secret={data.find(({ name }) => name === edit)} />
        </>
      )}
    </QueryResult>
  );
}
