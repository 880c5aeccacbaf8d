import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listRegistrable, type Workflow } from "../../api/build.ts";
import type { Listing } from "../../api/readAll.ts";
import { createTrigger, type MissedRule, type Overlap } from "../../api/triggers.ts";
import type { FormSchema } from "../../api/types.ts";
import { ArgsFields, readArgs } from "../../parts/ArgsForm.tsx";
import { labelledChoices, namedChoices, Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { readSpan, SpanField } from "../../parts/SpanField.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { ClockFields } from "./ClockFields.tsx";

const KINDS = { cron: "at times of the clock", every: "at an interval", at: "once" } as const;
type Kind = keyof typeof KINDS;
const EVERY = "Time between two runs";

const OVERLAPS: Record<Overlap, string> = { skip: "start no run", queue: "wait for its end", cancel: "cancel it" };
const MISSED: Record<MissedRule, string> = { one: "one run for all", all: "one run for each", none: "no run" };

const readRule = (form: FormData, kind: Kind) => {
  if (kind === "every") return { every: readSpan(form, "every", EVERY) };
  if (kind === "at") return { at: new Date(formText(form, "at")).toISOString() };
  return { cron: formText(form, "cron").trim(), time_zone: formText(form, "time_zone").trim() };
};

const readBody = (form: FormData, kind: Kind, schema: FormSchema | null) => ({
  name: formText(form, "name"),
  schedule: readRule(form, kind),
  args: readArgs(form, schema),
  overlap: formText(form, "overlap"),
  missed: formText(form, "missed"),
});

function When({ kind }: { kind: Kind }) {
  if (kind === "every") return <SpanField name="every" label={EVERY} value={3_600} isRequired />;
  if (kind === "at")
    return (
      <FormField label="When, in your time">
        <input name="at" type="datetime-local" required />
      </FormField>
    );
  return <ClockFields />;
}

const Rules = () => (
  <div className="side-by-side">
    <FormField label="While the run before is live">
      <select name="overlap">
        <Options choices={labelledChoices(OVERLAPS)} />
      </select>
    </FormField>
    <FormField label="For times missed in an outage">
      <select name="missed">
        <Options choices={labelledChoices(MISSED)} />
      </select>
    </FormField>
  </div>
);

interface Props {
  workflows: Listing<Workflow>;
  chosen: string | undefined;
}

export function NewSchedule({ workflows, chosen }: Props) {
  const [kind, setKind] = useState<Kind>("cron");
  const [picked, setPicked] = useState(chosen);
  const registrable = useQuery(listRegistrable);
  const workflow = workflows.data.find(({ id }) => id === picked) ?? workflows.data[0];
  const schema = registrable.data?.data.find(({ id }) => id === workflow?.definition.id)?.args ?? null;
  const { send, formKey } = useSaveForm({
    kind: "trigger",
    back: { to: "/schedules" },
    save: async (form) => createTrigger(formText(form, "workflow"), readBody(form, kind, schema)),
  });
  if (!workflow) return null;
  return (
    <Form key={formKey} submit="Add schedule" done="Saved." send={send}>
      <h2>Add a schedule</h2>
      <div className="side-by-side">
        <FormField label="Workflow">
          <select name="workflow" value={workflow.id} onChange={({ target }) => setPicked(target.value)}>
            <Options choices={namedChoices(workflows, "workflows")} />
          </select>
        </FormField>
        <FormField label="Name">
          <input name="name" required maxLength={200} autoComplete="off" />
        </FormField>
        <FormField label="Starts">
          <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            <Options choices={labelledChoices(KINDS)} />
          </select>
        </FormField>
      </div>
      <When kind={kind} />
      <ArgsFields key={workflow.id} schema={schema} label="Arguments of each run" />
      <Rules />
    </Form>
  );
}
