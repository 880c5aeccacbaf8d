import { addText, changeCollection, deleteCollection, type Collection } from "../../api/knowledge.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { requireConfirmation, TypedConfirmation } from "../../parts/TypedConfirmation.tsx";
import { useChange } from "../../parts/useChange.ts";

const WORD = "delete";

/** Adds a typed text as a document. */
function TextForm({ slug }: { slug: string }) {
  const { send, formKey } = useSaveForm({
    kind: "document",
    save: async (form) => addText(slug, { name: formText(form, "name"), text: formText(form, "text") }),
  });
  return (
    <Form key={formKey} submit="Add text" done="Added." send={send}>
      <FormField label="Name of the text">
        <input name="name" required maxLength={255} autoComplete="off" placeholder="holidays.md" />
      </FormField>
      <FormField label="Text, as Markdown">
        <textarea name="text" rows={6} required />
      </FormField>
    </Form>
  );
}

function DetailsForm({ collection: { slug, name, description } }: { collection: Collection }) {
  const change = useChange("collection", async (form: FormData) =>
    changeCollection(slug, {
      name: formText(form, "name"),
      description: formText(form, "description").trim() || null,
    }),
  );
  return (
    <Form submit="Save" done="Saved." send={change}>
      <FormField label="Name">
        <input name="name" required maxLength={120} defaultValue={name} autoComplete="off" />
      </FormField>
      <FormField label="Description">
        <textarea name="description" rows={2} defaultValue={description ?? ""} />
      </FormField>
    </Form>
  );
}

function DeleteForm({ slug }: { slug: string }) {
  const leaveAfter = useLeaveAfter();
  const remove = useChange("collection", async (form: FormData) => {
    requireConfirmation(form, WORD);
    await leaveAfter(() => deleteCollection(slug), { to: "/knowledge", ignoreBlocker: true });
  });
  return (
    <Form submit="Delete the collection and its documents" isDangerous send={remove}>
      <TypedConfirmation word={WORD} />
    </Form>
  );
}

/** Rare actions on a collection. */
export const CollectionForms = ({ collection }: { collection: Collection }) => (
  <>
    <details className="card record">
      <summary>Write a text</summary>
      <TextForm slug={collection.slug} />
    </details>
    <details className="card record">
      <summary>Name, description, delete</summary>
      <div className="stack">
        <DetailsForm collection={collection} />
        <DeleteForm slug={collection.slug} />
      </div>
    </details>
  </>
);
