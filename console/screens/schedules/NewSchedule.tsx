import { useState } from "react";
import { createTrigger, type MissedRule, type Overlap, type Workflow } from "../../api/build.ts";
import { labelledChoices, namedChoices, Options } from "../../parts/Choices.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText, readJson } from "../../parts/formText.ts";
import { useSaving } from "../../parts/useSaving.ts";

const KINDS = { cron: "at times of the clock", every: "at an interval", at: "once" } as const;
type Kind = keyof typeof KINDS;

const OVERLAPS: Record<Overlap, string> = { skip: "start no run", queue: "wait for its end", cancel: "cancel it" };
const MISSED: Record<MissedRule, string> = { one: "one run for all", all: "one run for each", none: "no run" };

const readRule = (form: FormData, kind: Kind) => {
  if (kind === "every") return { every: Number(formText(form, "every")) };
  if (kind === "at") return { at: new Date(formText(form, "at")).toISOString() };
  return { cron: formText(form, "cron").trim(), time_zone: formText(form, "time_zone").trim() };
};

const readBody = (form: FormData, kind: Kind) => ({
  name: formText(form, "name"),
  schedule: readRule(form, kind),
  args: readJson(form, "args", "Arguments"),
  overlap: formText(form, "overlap"),
  missed: formText(form, "missed"),
});

function When({ kind }: { kind: Kind }) {
  if (kind === "every")
    return (
      <label>
        Seconds between two runs
        <input name="every" type="number" required min={1} max={31_536_000} defaultValue={3_600} />
      </label>
    );
  if (kind === "at")
    return (
      <label>
        When, in your time
        <input name="at" type="datetime-local" required />
      </label>
    );
  return (
    <div className="side-by-side">
      <label>
        <span>
          Times <span className="quiet">(minute, hour, day, month, weekday)</span>
        </span>
        <input name="cron" required maxLength={100} defaultValue="30 8 * * 1-5" className="mono" spellCheck={false} />
      </label>
      <label>
        Time zone
        <input
          name="time_zone"
          required
          maxLength={100}
          defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
          spellCheck={false}
        />
      </label>
    </div>
  );
}

const Rules = () => (
  <div className="side-by-side">
    <label>
      While the run before is live
      <select name="overlap">
        <Options choices={labelledChoices(OVERLAPS)} />
      </select>
    </label>
    <label>
      For times missed in an outage
      <select name="missed">
        <Options choices={labelledChoices(MISSED)} />
      </select>
    </label>
  </div>
);

/** A new schedule of a workflow. */
export function NewSchedule({ workflows, chosen }: { workflows: Workflow[]; chosen: string | undefined }) {
  const [kind, setKind] = useState<Kind>("cron");
  const { send, formKey } = useSaving({
    kind: "trigger",
    back: { to: "/schedules" },
    save: async (form) => createTrigger(formText(form, "workflow"), readBody(form, kind)),
  });
  if (workflows.length === 0) return null;
  return (
    <Form key={formKey} submit="Add schedule" done="Saved." send={send}>
      <h2>Add a schedule</h2>
      <div className="side-by-side">
        <label>
          Workflow
          <select key={workflows.length} name="workflow" defaultValue={chosen}>
            <Options choices={namedChoices(workflows)} />
          </select>
        </label>
        <label>
          Name
          <input name="name" required maxLength={200} autoComplete="off" />
        </label>
        <label>
          Starts
          <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            <Options choices={labelledChoices(KINDS)} />
          </select>
        </label>
      </div>
      <When kind={kind} />
      <label>
        Arguments of each run, as JSON
        <textarea name="args" rows={3} className="mono" defaultValue="{}" spellCheck={false} />
      </label>
      <Rules />
    </Form>
  );
}
