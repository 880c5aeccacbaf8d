import { useState } from "react";
import { createSource } from "../../api/sources.ts";
import { labelledChoices, Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { useSaveForm } from "../../parts/useSaveForm.ts";

const KINDS = { sitemap: "the pages of a sitemap", url: "one page" } as const;
const GONE = { delete: "delete its document", keep: "keep its document" } as const;
const TIMES = {
  "": "when I ask for it",
  "0 4 * * *": "every night at 4",
  "0 4 * * 1": "every Monday at 4",
  "0 * * * *": "every hour",
} as const;
type Kind = keyof typeof KINDS;

/** Patterns separated by spaces or line breaks. */
const readPatterns = (form: FormData, name: string): string[] => formText(form, name).split(/\s+/).filter(Boolean);

function readBody(form: FormData, kind: Kind): object {
  const cron = formText(form, "schedule.cron");
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = {
    kind,
    url: formText(form, "url").trim(),
    schedule: cron === "" ? null : { cron, time_zone },
    when_gone: formText(form, "when_gone"),
  };
  if (kind === "url") return body;
  const [include, exclude] = [readPatterns(form, "include"), readPatterns(form, "exclude")];
  return { ...body, include, exclude, max_pages: Number(formText(form, "max_pages")) };
}

const Filter = () => (
  <div className="side-by-side">
    <FormField label="Only paths" note="/docs/ /*.html$">
      <input name="include" className="mono" autoComplete="off" spellCheck={false} />
    </FormField>
    <FormField label="Not these paths">
      <input name="exclude" className="mono" autoComplete="off" spellCheck={false} />
    </FormField>
    <FormField label="Pages at most">
      <input name="max_pages" type="number" required min={1} max={5_000} defaultValue={500} />
    </FormField>
  </div>
);

export function NewSource({ collection }: { collection: string }) {
  const [kind, setKind] = useState<Kind>("sitemap");
  const { send, formKey } = useSaveForm({
    kind: "source",
    back: { to: "/knowledge/$collection/sources", params: { collection } },
    save: (form) => createSource(collection, readBody(form, kind)),
  });
  return (
    <Form key={formKey} submit="Add source" done="Added; it is being read." send={send}>
      <h2>Add a source</h2>
      <div className="side-by-side">
        <FormField label="Read">
          <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            <Options choices={labelledChoices(KINDS)} />
          </select>
        </FormField>
        <FormField label="Address">
          <input name="url" type="url" required maxLength={2_048} placeholder="https://…" autoComplete="off" />
        </FormField>
      </div>
      <div className="side-by-side">
        <FormField label="Again">
          <select name="schedule.cron">
            <Options choices={labelledChoices(TIMES)} />
          </select>
        </FormField>
        <FormField label="When a page is gone">
          <select name="when_gone">
            <Options choices={labelledChoices(GONE)} />
          </select>
        </FormField>
      </div>
      {kind === "sitemap" && <Filter />}
    </Form>
  );
}
