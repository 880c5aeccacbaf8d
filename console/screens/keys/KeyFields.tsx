import { PRODUCTS, type KeySettings } from "../../api/keys.ts";
import { Checkbox } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formLines, formText } from "../../parts/formText.ts";
import { LimitCheck, LimitSwitch } from "../../parts/LimitSwitch.tsx";
import { readLimit } from "../../parts/readLimit.ts";

const ONLY_THESE = "Only these";
const HINTS = {
  knowledge: "collections, documents and their search",
  extraction: "the text of files",
} as const;

/** A time in the format of `datetime-local`, in the person's time zone. */
function toLocal(moment: string): string {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The limits of a key. Every key may use models and agents. */
export const KeyFields = ({ settings }: { settings: Omit<KeySettings, "enabled"> }) => (
  <>
    <FormField label="Name">
      <input name="name" required maxLength={200} defaultValue={settings.name} autoComplete="off" />
    </FormField>
    <fieldset>
      <legend>Besides models and agents, it may use</legend>
      {PRODUCTS.map((product) => (
        <Checkbox
          key={product}
          name="products"
          value={product}
          label={product}
          hint={HINTS[product]}
          isChecked={settings.products.includes(product)}
        />
      ))}
    </fieldset>
    <fieldset>
      <legend>Models</legend>
      <LimitSwitch
        isLimited={settings.allowed_models !== null}
        switches={(state) => <LimitCheck name="limits_models" label={`${ONLY_THESE}, one in each line:`} {...state} />}
      >
        {(isEmptied) => (
          <textarea
            name="allowed_models"
            aria-label="Allowed models"
            rows={3}
            spellCheck={false}
            placeholder="openai/gpt-…"
            defaultValue={isEmptied ? "" : settings.allowed_models?.join("\n")}
          />
        )}
      </LimitSwitch>
    </fieldset>
    <Checkbox
      name="client_tools"
      label="Requests may bring tools of their own"
      hint="which the caller runs"
      isChecked={settings.client_tools}
    />
    <FormField label="Expires" note="optional">
      <input
        name="expires_at"
        type="datetime-local"
        defaultValue={settings.expires_at ? toLocal(settings.expires_at) : ""}
      />
    </FormField>
  </>
);

/** The entered fields. Throws an Error that names conflicting fields. `before`: the stored time, whose seconds the field does not show. */
export function readKeyFields(form: FormData, before: string | null = null): Omit<KeySettings, "enabled"> {
  const expires = formText(form, "expires_at");
  const isSame = before !== null && toLocal(before) === expires;
  return {
    name: formText(form, "name"),
    products: PRODUCTS.filter((product) => form.getAll("products").includes(product)),
    allowed_models: readLimit(formLines(form, "allowed_models"), {
      field: "allowed_models",
      isOn: form.has("limits_models"),
      name: ONLY_THESE,
      what: "models",
    }),
    client_tools: form.has("client_tools"),
    expires_at: isSame ? before : expires ? new Date(expires).toISOString() : null,
  };
}
