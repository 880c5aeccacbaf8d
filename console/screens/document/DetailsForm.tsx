import { changeDocument, type DocumentChange, type DocumentInfo, type Metadata } from "../../api/knowledge.ts";
import { Options, wordChoices } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { FieldError } from "../../format/FieldError.ts";
import { Form } from "../../parts/Form.tsx";
import { formGroups, formLines, formText } from "../../parts/formText.ts";
import { RepeatedFields } from "../../parts/RepeatedFields.tsx";
import { useChangeForm } from "../../parts/useChangeForm.ts";

const MAX_KEYS = 16;
const KINDS = wordChoices(["text", "number", "boolean"]);

/** `n`: the position of the key in the form. */
function readValue({ key, kind, value = "" }: Record<string, string>, n: number): Metadata[string] {
  const refuse = (why: string) => new FieldError(`metadata[${n}].value`, `“${key}” must be ${why}.`);
  if (kind === "number") {
    if (value === "" || !Number.isFinite(Number(value))) throw refuse("a number, as in 2026");
    return Number(value);
  }
  if (kind === "boolean") {
    if (value !== "true" && value !== "false") throw refuse("true or false");
    return value === "true";
  }
  return value;
}

function readMetadata(form: FormData): Metadata {
  const groups = formGroups(form);
  const keys = groups.map(({ key }) => key);
  const twice = keys.findIndex((key, n) => key && keys.indexOf(key) !== n);
  if (twice >= 0) throw new FieldError(`metadata[${twice}].key`, `“${keys[twice]}” is there twice.`);
  return Object.fromEntries(groups.flatMap((group, n) => (group["key"] ? [[group["key"], readValue(group, n)]] : [])));
}

/** Throws a FieldError. */
const readDetails = (form: FormData): DocumentChange => ({
  name: formText(form, "name"),
  tags: formLines(form, "tags"),
  metadata: readMetadata(form),
});

const Pairs = ({ metadata }: { metadata: Metadata }) => {
  const entries = Object.entries(metadata);
  return (
    <RepeatedFields
      legend="Your own metadata"
      what="key"
      param="metadata"
      hint="To filter searches by. A key has letters, digits, and the signs _ . : -"
      items={entries.length > 0 ? entries : [undefined]}
      most={MAX_KEYS}
    >
      {(entry, field) => (
        <div className="side-by-side">
          <FormField label="Key">
            <input name={field("key")} defaultValue={entry?.[0]} maxLength={64} autoComplete="off" />
          </FormField>
          <FormField label="Kind">
            <select name={field("kind")} defaultValue={entry === undefined ? "text" : kindOf(entry[1])}>
              <Options choices={KINDS} />
            </select>
          </FormField>
          <FormField label="Value">
            <input name={field("value")} defaultValue={entry && String(entry[1])} maxLength={512} autoComplete="off" />
          </FormField>
        </div>
      )}
    </RepeatedFields>
  );
};

const kindOf = (value: Metadata[string]): string => (typeof value === "string" ? "text" : typeof value);

/** Name, tags and metadata of a document. */
export function DetailsForm({ document }: { document: DocumentInfo }) {
  const { before, save } = useChangeForm<DocumentChange, DocumentInfo>(document, {
    read: readDetails,
    change: (changes) => changeDocument(document.id, changes),
    queryKeys: [["document"]],
  });
  return (
    <Form submit="Save details" done="Saved." send={save}>
      <FormField label="Name">
        <input name="name" required maxLength={255} defaultValue={before.name} autoComplete="off" />
      </FormField>
      <FormField label="Tags" note="one in each line">
        <textarea name="tags" rows={2} defaultValue={before.tags.join("\n")} />
      </FormField>
      <Pairs metadata={before.metadata ?? {}} />
    </Form>
  );
}
