import { changeDocument, type DocumentChange, type DocumentInfo, type Metadata } from "../../api/knowledge.ts";
import { Options, wordChoices } from "../../parts/Choices.tsx";
import { Form } from "../../parts/Form.tsx";
import { formGroups, formLines, formText } from "../../parts/formText.ts";
import { Repeated } from "../../parts/Repeated.tsx";
import { useChanging } from "../../parts/useChanging.ts";

const MAX_KEYS = 16;
const KINDS = wordChoices(["text", "number", "boolean"]);

function readValue(key: string, kind: string | undefined, value: string): Metadata[string] {
  if (kind === "number") {
    if (value === "" || !Number.isFinite(Number(value))) throw new Error(`“${key}” must be a number, as in 2026.`);
    return Number(value);
  }
  if (kind === "boolean") {
    if (value !== "true" && value !== "false") throw new Error(`“${key}” must be true or false.`);
    return value === "true";
  }
  return value;
}

function readMetadata(form: FormData): Metadata {
  const named = formGroups(form).filter(({ key }) => key);
  const keys = named.map(({ key }) => key);
  const twice = keys.find((key, n) => keys.indexOf(key) !== n);
  if (twice) throw new Error(`“${twice}” is there twice.`);
  return Object.fromEntries(named.map(({ key = "", kind, value = "" }) => [key, readValue(key, kind, value)]));
}

/** Throws an Error that names the key. */
const readDetails = (form: FormData): DocumentChange => ({
  name: formText(form, "name"),
  tags: formLines(form, "tags"),
  metadata: readMetadata(form),
});

const Pairs = ({ metadata }: { metadata: Metadata }) => {
  const entries = Object.entries(metadata);
  return (
    <Repeated
      legend="Your own metadata"
      what="key"
      hint="To filter searches by. A key has letters, digits, and the signs _ . : -"
      items={entries.length > 0 ? entries : [undefined]}
      most={MAX_KEYS}
    >
      {(entry, field) => (
        <div className="side-by-side">
          <label>
            Key
            <input name={field("key")} defaultValue={entry?.[0]} maxLength={64} autoComplete="off" />
          </label>
          <label>
            Kind
            <select name={field("kind")} defaultValue={entry === undefined ? "text" : kindOf(entry[1])}>
              <Options choices={KINDS} />
            </select>
          </label>
          <label>
            Value
            <input name={field("value")} defaultValue={entry && String(entry[1])} maxLength={512} autoComplete="off" />
          </label>
        </div>
      )}
    </Repeated>
  );
};

const kindOf = (value: Metadata[string]): string => (typeof value === "string" ? "text" : typeof value);

/** Name, tags and metadata of a document. */
export function DetailsForm({ document }: { document: DocumentInfo }) {
  const { before, save } = useChanging<DocumentChange, DocumentInfo>(document, {
    read: readDetails,
    change: (changes) => changeDocument(document.id, changes),
    queryKeys: [["document"]],
  });
  return (
    <Form submit="Save details" done="Saved." send={save}>
      <label>
        Name
        <input name="name" required maxLength={255} defaultValue={before.name} autoComplete="off" />
      </label>
      <label>
        <span>
          Tags <span className="quiet">(one in each line)</span>
        </span>
        <textarea name="tags" rows={2} defaultValue={before.tags.join("\n")} />
      </label>
      <Pairs metadata={before.metadata ?? {}} />
    </Form>
  );
}
