import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import {
  RETAINED_KINDS,
  previewRetention,
  readRetention,
  setRetention,
  type Retention,
  type RetentionPreview,
  type RetentionRules,
} from "../../api/privacy.ts";
import { formatNumber } from "../../format/index.ts";
import { Options, includeChosen, type Choice } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { kindWord } from "../../format/kindWord.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { readDays, SpanField } from "../../parts/SpanField.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { Time } from "../../parts/Time.tsx";
import { requireConfirmation, TypedConfirmation } from "../../parts/TypedConfirmation.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { HeldThings } from "./HeldThings.tsx";

const WORD = "delete";
const DAY_S = 86_400;
const HINTS = {
  threads: "after their last request",
  turns: "after their end, also where the conversation goes on",
  files: "after the upload",
  documents: "after their last change",
  runs: "after their end",
};

const labelOf = (kind: string): string => `Keep ${kindWord(kind)} for`;

/** The entered rules. */
function readRules(form: FormData): { subject: string; rules: RetentionRules } {
  const subject = formText(form, "subject");
  const read = (kind: (typeof RETAINED_KINDS)[number]) => {
    const days = readDays(form, kind, labelOf(kind));
    return days === null ? null : `${days}d`;
  };
  const rules = Object.fromEntries(RETAINED_KINDS.map((kind) => [kind, read(kind)])) as RetentionRules;
  return { subject, rules };
}

const Preview = ({ preview }: { preview: RetentionPreview }) => {
  const total = RETAINED_KINDS.reduce((sum, kind) => sum + preview[kind].count, 0);
  if (total === 0) return <p className="notice good">Nothing is old enough to go now.</p>;
  return (
    <div className="notice warn">
      <p>These would be deleted within the hour, for good:</p>
      <ul>
        {RETAINED_KINDS.filter((kind) => preview[kind].count > 0).map((kind) => (
          <li key={kind}>
            <strong>{formatNumber(preview[kind].count)}</strong> {kindWord(kind, preview[kind].count)}
            {preview[kind].oldest && (
              <>
                , the oldest from <Time at={preview[kind].oldest} />
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
};

interface Props {
  /** The rules to edit; undefined for new ones. */
  rules: Retention | undefined;
  subjects: readonly Choice[];
  name: (subject: string) => string;
}

/** Days of the API's `30d`. */
const secondsOf = (kept: string | null | undefined) => (kept ? Number.parseInt(kept) * DAY_S : undefined);

const Days = ({ rules }: Pick<Props, "rules">) => (
  <div className="side-by-side">
    {RETAINED_KINDS.map((kind) => (
      <SpanField key={kind} name={kind} label={labelOf(kind)} hint={HINTS[kind]} value={secondsOf(rules?.[kind])} />
    ))}
  </div>
);

const isSame = (one: object | undefined, other: object) => JSON.stringify(one) === JSON.stringify(other);

/** Counts what the entered rules would delete. The preview is gone once they are changed, also while it is counted. */
function usePreview({ rules, name }: Pick<Props, "rules" | "name">) {
  const [shown, setShown] = useState<{ entry: ReturnType<typeof readRules>; preview: RetentionPreview }>();
  const changes = useRef(0);
  const forget = () => {
    changes.current++;
    setShown(undefined);
  };
  const look = useMutation({
    mutationFn: async (form: FormData) => {
      const entry = readRules(form);
      const begun = changes.current;
      // this form does not show the rules of another subject
      if (entry.subject !== rules?.subject && (await readRetention(entry.subject)))
        throw new OverwriteRefusal(`a rule of ${name(entry.subject)}`, {
          to: "/privacy",
          search: { subject: entry.subject },
        });
      const preview = await previewRetention(entry.subject, entry.rules);
      if (changes.current === begun) setShown({ entry, preview });
    },
  });
  return { shown, forget, look };
}

/** Sets rules in two steps: the first counts the items that would be deleted, the second requires a typed confirmation. */
export function RetentionForm({ rules, subjects, name }: Props) {
  const { shown, forget, look } = usePreview({ rules, name });
  const { send, formKey } = useSaveForm({
    kind: "retention",
    back: { to: "/privacy" },
    save: async (form) => {
      const { subject, rules: entered } = readRules(form);
      if (!isSame(shown?.entry, { subject, rules: entered }))
        throw new Error("Look at the preview of these rules first.");
      requireConfirmation(form, WORD);
      await setRetention(subject, entered);
      forget();
    },
  });
  const isReady = shown !== undefined;
  return (
    <Form
      key={formKey}
      submit={isReady ? "Set these rules" : "Preview"}
      done="Saved."
      send={isReady ? { ...send, isSuccess: false } : { ...look, isSuccess: send.isSuccess }}
    >
      <h2>{rules ? `The rules of ${name(rules.subject)}` : "Set rules"}</h2>
      <FormField label="Of">
        <select name="subject" defaultValue={rules?.subject ?? "organization"} onChange={forget}>
          <Options choices={includeChosen(subjects, rules?.subject)} />
        </select>
      </FormField>
      <p className="quiet">An empty field keeps them for ever. Saving replaces all of them.</p>
      <div onChange={forget}>
        <Days rules={rules} />
      </div>
      <div role="status">
        {shown && <Preview preview={shown.preview} />}
        {shown && shown.preview.held.length > 0 && (
          <div className="notice plain">
            <HeldThings keep="keep what is too old as well" held={shown.preview.held} />
          </div>
        )}
      </div>
      {isReady && <TypedConfirmation word={WORD} />}
    </Form>
  );
}
