import { configureAlias, readAlias, type Alias, type AliasSettings, type Target } from "../../api/spending.ts";
import { Checkbox, Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formGroups, formText } from "../../parts/formText.ts";
import { ModelNames } from "../../parts/ModelField.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { RepeatedFields } from "../../parts/RepeatedFields.tsx";
import { readSpan, SpanField } from "../../parts/SpanField.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";

const MAX_TARGETS = 8;
const DEFAULTS = ["429", "5xx", "timeout", "connection"];
const CONDITIONS = [...DEFAULTS, "context_length", "content_filter"];
const WORDS: Record<string, string> = {
  "429": "429, too many requests",
  "5xx": "5xx, a fault of the provider",
  context_length: "context_length, too long for the model",
  content_filter: "content_filter, stopped by the provider's filter",
};
const MAX_ATTEMPTS = 10;
const FIRST_WORDS = {
  name: "timeout_seconds",
  label: "Time until the first words",
  hint: "10 minutes at most",
} as const;
const TOGETHER = { name: "max_seconds", label: "Time that they may take", hint: "30 minutes at most" } as const;

/** Both fields are required, so the time is present. */
const readTime = (form: FormData, { name, label }: { name: string; label: string }) => readSpan(form, name, label) ?? 0;

const readSettings = (form: FormData): AliasSettings => ({
  targets: formGroups(form).map(({ model = "", weight, region }) => ({
    model,
    ...(weight && { weight: Number(weight) }),
    ...(region && { region }),
  })),
  on: [...CONDITIONS.filter((one) => form.has(one)), ...formText(form, "others").split(/[\s,]+/)].filter(Boolean),
  timeout_seconds: readTime(form, FIRST_WORDS),
  max_attempts: Number(formText(form, "max_attempts")),
  max_seconds: readTime(form, TOGETHER),
});

const TargetFields = ({ target, field }: { target: Target | undefined; field: (name: string) => string }) => (
  <div className="side-by-side">
    <FormField label="Model">
      <input
        name={field("model")}
        required
        maxLength={512}
        list="models-of-aliases"
        defaultValue={target?.model}
        placeholder="provider/model"
        autoComplete="off"
        spellCheck={false}
      />
    </FormField>
    <FormField label="Weight" note="for all, or none">
      <input name={field("weight")} type="number" min={0} max={1_000} defaultValue={target?.weight} />
    </FormField>
    <FormField label="Region" note="optional">
      <input
        name={field("region")}
        maxLength={32}
        pattern="[a-z0-9][a-z0-9\-]*"
        title="Lower-case letters, digits and hyphens, as in eu-west-1"
        defaultValue={target?.region}
        placeholder="eu-west-1"
        autoComplete="off"
        spellCheck={false}
      />
    </FormField>
  </div>
);

const Conditions = ({ on }: { on: string[] }) => (
  <fieldset>
    <legend>The next model is asked after</legend>
    {CONDITIONS.map((name) => (
      <Checkbox key={name} name={name} label={WORDS[name] ?? name} isChecked={on.includes(name)} />
    ))}
    <label data-params="on">
      <span>
        Other statuses <span className="quiet">(optional, from 400 to 599)</span>
      </span>
      <input name="others" defaultValue={on.filter((one) => !CONDITIONS.includes(one)).join(" ")} autoComplete="off" />
    </label>
  </fieldset>
);

/** An alias may not name another alias. Only a model name contains its provider. */
const isModel = (name: string): boolean => name.includes("/");

/** Throws an OverwriteRefusal if an alias has this name, because this form does not show it. */
async function addAlias(form: FormData): Promise<Alias> {
  const alias = formText(form, "alias").trim();
  if (await readAlias(alias))
    throw new OverwriteRefusal(`the alias “${alias}”`, {
      to: "/spending",
      search: { section: "aliases", edit: alias },
    });
  return configureAlias(alias, readSettings(form));
}

/** One alias. Running turns keep the models that they started with. */
export function AliasForm({ alias }: { alias: Alias | undefined }) {
  const { send, formKey } = useSaveForm({
    kind: "alias",
    edit: alias?.alias,
    back: { to: "/spending", search: { section: "aliases" } },
    save: async (form) => (alias ? configureAlias(alias.alias, readSettings(form)) : addAlias(form)),
  });
  return (
    <Form
      key={`${alias?.alias} ${formKey}`}
      submit={alias ? "Save alias" : "Add alias"}
      done={alias ? undefined : "Saved."}
      send={send}
    >
      <h2>{alias ? `Change ${alias.alias}` : "Add an alias"}</h2>
      {!alias && (
        <FormField label="Name">
          <input name="alias" required maxLength={64} placeholder="fast" autoComplete="off" spellCheck={false} />
        </FormField>
      )}
      <RepeatedFields
        legend="Models"
        what="model"
        param="targets"
        hint="Without weights they are asked in this order; with weights each request draws its order."
        items={alias?.targets ?? [undefined, undefined]}
        most={MAX_TARGETS}
      >
        {(target, field) => <TargetFields target={target} field={field} />}
      </RepeatedFields>
      <ModelNames id="models-of-aliases" only={isModel} />
      <Conditions on={alias?.on ?? DEFAULTS} />
      <div className="side-by-side">
        <SpanField {...FIRST_WORDS} value={alias?.timeout_seconds ?? 60} isRequired />
        <FormField label="Failed tries of one request">
          <input
            name="max_attempts"
            type="number"
            required
            min={1}
            max={MAX_ATTEMPTS}
            defaultValue={alias?.max_attempts ?? 5}
          />
        </FormField>
        <SpanField {...TOGETHER} value={alias?.max_seconds ?? 180} isRequired />
      </div>
    </Form>
  );
}
