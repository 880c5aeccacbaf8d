import { useQuery } from "@tanstack/react-query";
import {
  getPrices,
  PAGES,
  readPrices,
  setPrices,
  type ModelPrices,
  type Price,
  type PriceToSet,
} from "../../api/spending.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formGroups, formText } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ModelField } from "../../parts/ModelField.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { RepeatedFields } from "../../parts/RepeatedFields.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";

const MAX_PRICES = 20;
const AMOUNT = "\\d{1,6}([.]\\d{1,6})?";

const FIELDS = [
  { name: "input", label: "Input", isRequired: true },
  { name: "output", label: "Output", isRequired: true },
  { name: "cached_input", label: "Cached input", isRequired: false },
  { name: "cache_write", label: "Writing the cache", isRequired: false },
  { name: "reasoning", label: "Reasoning", isRequired: false },
  { name: "per_call", label: "Each call", isRequired: false },
  { name: "per_page", label: "Each page", isRequired: true },
] as const satisfies readonly { name: keyof Price; label: string; isRequired: boolean }[];

/** A page has a single price, and a model has all the other prices. */
const fieldsOf = (model: string | undefined) =>
  FIELDS.filter(({ name }) => (name === "per_page") === (model === PAGES));

const readPrice = ({ valid_from, ...rest }: Record<string, string>): PriceToSet => ({
  valid_from: valid_from ? `${valid_from}T00:00:00Z` : null,
  ...Object.fromEntries(Object.entries(rest).filter(([, amount]) => amount !== "")),
});

interface FieldsProps {
  model: string | undefined;
  price: Price | undefined;
  field: (name: string) => string;
}

const PriceFields = ({ model, price, field }: FieldsProps) => (
  <div className="side-by-side">
    {fieldsOf(model).map(({ name, label, isRequired }) => (
      <label key={name}>
        {label}
        <input
          name={field(name)}
          inputMode="decimal"
          pattern={AMOUNT}
          title="US dollars, as in 2.50"
          required={isRequired}
          defaultValue={price?.[name] ?? ""}
          autoComplete="off"
        />
      </label>
    ))}
    <FormField label="From" note="UTC; empty: always">
      <input name={field("valid_from")} type="date" defaultValue={price?.valid_from?.slice(0, 10) ?? ""} />
    </FormField>
  </div>
);

/** Throws an OverwriteRefusal if the organization has set prices, because this form does not show them. */
async function setNew(form: FormData): Promise<ModelPrices> {
  const model = formText(form, "model").trim();
  const found = await readPrices(model);
  if (found?.set_by === "organization")
    throw new OverwriteRefusal(`a price of ${model}`, { to: "/spending", search: { section: "prices", edit: model } });
  return setPrices(model, formGroups(form).map(readPrice));
}

/** The prices of one model. Saving replaces all of them, so the stored ones are loaded first, even if the list lacks them. */
export function PriceForm({ model }: { model: string | undefined }) {
  const stored = useQuery({ ...getPrices(model ?? ""), enabled: model !== undefined });
  const { send, formKey } = useSaveForm({
    kind: "price",
    edit: model,
    back: { to: "/spending", search: { section: "prices" } },
    save: async (form) => (stored.data ? setPrices(stored.data.model, formGroups(form).map(readPrice)) : setNew(form)),
  });
  const formOf = (prices: ModelPrices | null) => (
    <Form
      key={`${model} ${prices?.set_by} ${formKey}`}
      submit={prices ? "Save prices" : "Set price"}
      done={prices ? undefined : "Saved."}
      send={send}
    >
      <h2>{prices ? `What ${prices.model} costs` : "Set the price of a model"}</h2>
      {!prices && <ModelField chosen={model} isRequired maxLength={300} placeholder="provider/model" />}
      <RepeatedFields
        legend="Prices"
        what="price"
        param="prices"
        hint="US dollars per million tokens, each call and each page in US dollars. The price that began last is valid."
        items={prices?.prices ?? [undefined]}
        most={MAX_PRICES}
      >
        {(price, field) => <PriceFields model={prices?.model ?? model} price={price} field={field} />}
      </RepeatedFields>
    </Form>
  );
  if (model === undefined) return formOf(null);
  return (
    <QueryResult query={stored} what="its prices">
      {formOf}
    </QueryResult>
  );
}
