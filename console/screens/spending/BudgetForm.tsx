import { useQuery } from "@tanstack/react-query";
import { listWorkflows } from "../../api/nameLists.ts";
import {
  TURN_LIMITS,
  RATE_LIMITS,
  READING_LIMITS,
  STORAGE_LIMITS,
  TURN_RATE_LIMITS,
  type LimitName,
} from "../../api/limitNames.ts";
import {
  budgetKey,
  getBudget,
  readBudget,
  setBudget,
  splitBudgetKey,
  type Budget,
  type BudgetToSet,
} from "../../api/spending.ts";
import { namedChoices, Options, includeChosen } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Checkbox, Form } from "../../parts/Form.tsx";
import { ModelNames } from "../../parts/ModelField.tsx";
import { formText } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { nameOf, nameOfBudget, type useSubjects } from "./useSubjects.ts";

type Groups = ReturnType<typeof useSubjects>;

const LABELS: Record<LimitName, string> = {
  requests_per_day: "Requests a day",
  requests_per_month: "Requests a month",
  tokens_per_day: "Tokens a day",
  tokens_per_week: "Tokens a week",
  tokens_per_month: "Tokens a month",
  tokens_total: "Tokens in total",
  cost_per_day: "US dollars a day",
  cost_per_week: "US dollars a week",
  cost_per_month: "US dollars a month",
  cost_total: "US dollars in total",
  requests_per_minute: "Requests a minute",
  tokens_per_minute: "Tokens a minute",
  concurrent_turns: "Requests at a time",
  concurrent_streams: "Streams at a time",
  concurrent_runs: "Runs at a time",
  pages_per_day: "Pages read a day",
  pages_per_month: "Pages read a month",
  stored_bytes: "Stored bytes",
  documents: "Documents",
};
const isMoney = (name: LimitName) => name.startsWith("cost");

function readLimits(form: FormData): BudgetToSet {
  const read = (name: LimitName) => {
    const text = formText(form, name).trim();
    if (text === "") return null;
    return isMoney(name) ? text : Number(text);
  };
  const limits = [...TURN_LIMITS, ...READING_LIMITS, ...STORAGE_LIMITS, ...RATE_LIMITS].map((name) => [
    name,
    read(name),
  ]);
  return {
    ...(Object.fromEntries(limits) as Record<LimitName, number | string | null>),
    hard: form.has("hard"),
    workflow_id: formText(form, "workflow_id") || null,
  };
}

function readNamed(form: FormData): Pick<Budget, "subject" | "model"> {
  const [user, model] = [formText(form, "user"), formText(form, "model").trim()];
  return { subject: user === "" ? formText(form, "subject") : `user:${user}`, model: model || null };
}

interface LimitsProps {
  names: readonly LimitName[];
  limitOf(name: LimitName): string | undefined;
}

const Limits = ({ names, limitOf }: LimitsProps) => (
  <div className="side-by-side">
    {names.map((name) => (
      <label key={name}>
        {LABELS[name]}
        <input
          name={name}
          inputMode={isMoney(name) ? "decimal" : "numeric"}
          pattern={isMoney(name) ? "\\d{1,9}([.]\\d{1,6})?" : "\\d{1,15}"}
          title={isMoney(name) ? "US dollars, as in 12.50" : "A whole number"}
          defaultValue={limitOf(name)}
          autoComplete="off"
        />
      </label>
    ))}
  </div>
);

const Subject = ({ groups, chosen }: { groups: Groups; chosen: string | undefined }) => (
  <label>
    Who spends
    {/* remounts once the selected subject is known, because only then it can be selected */}
    <select key={chosen && nameOf(groups, chosen)} name="subject" defaultValue={chosen ?? "organization"}>
      {chosen && nameOf(groups, chosen) === chosen && <option value={chosen}>{chosen}</option>}
      {groups.map(({ label, subjects }) => (
        <optgroup key={label} label={label}>
          <Options choices={subjects} />
        </optgroup>
      ))}
    </select>
  </label>
);

const Named = ({ groups, chosen }: { groups: Groups; chosen: string | undefined }) => {
  const { subject, model } = chosen === undefined ? {} : splitBudgetKey(chosen);
  return (
    <>
      <div className="side-by-side">
        <Subject groups={groups} chosen={subject} />
        <FormField label="Or one end user">
          <input name="user" maxLength={200} placeholder="The user of requests" autoComplete="off" />
        </FormField>
        <FormField label="One model only" note="optional">
          <input
            name="model"
            maxLength={200}
            list="models-of-budgets"
            defaultValue={model ?? ""}
            placeholder="provider/model, or an alias"
            autoComplete="off"
            spellCheck={false}
          />
        </FormField>
      </div>
      <ModelNames id="models-of-budgets" />
      <p className="quiet">
        With a model, requests that name it count and no others; pages and what is stored cannot be limited.
      </p>
    </>
  );
};

function AlertField({ chosen }: { chosen: string | null }) {
  const { data } = useQuery(listWorkflows);
  return (
    <label>
      <span>
        Run a workflow at 80 % and at 100 % <span className="quiet">(optional)</span>
      </span>
      {/* remounts once the workflows are known, because only then one can be selected */}
      <select key={String(data !== undefined)} name="workflow_id" defaultValue={chosen ?? ""}>
        <option value="">None: only the log and headers tell</option>
        <Options choices={includeChosen(namedChoices(data, "workflows"), chosen)} />
      </select>
    </label>
  );
}

/** Throws an OverwriteRefusal if there is a budget, because this form does not show its limits. */
async function setNew(groups: Groups, form: FormData): Promise<Budget> {
  const named = readNamed(form);
  const found = await readBudget(named);
  if (!found) return setBudget(named, readLimits(form));
  const key = budgetKey(found);
  throw new OverwriteRefusal(`the budget of ${nameOfBudget(groups, key)}`, { to: "/spending", search: { edit: key } });
}

interface Props {
  groups: Groups;
  /** The subject in the address, which may have no budget yet. */
  chosen: string | undefined;
}

/** The possible limits with their current values; null means no limit. */
function Fields({ budget }: { budget: Budget | null }) {
  const limitOf = (name: LimitName) => budget?.limits.find((limit) => limit.name === name)?.limit;
  const isOfAll = (budget?.model ?? null) === null;
  return (
    <>
      <p className="quiet">
        Days, weeks from Monday on and months of UTC. Requests and tokens count when an answer ends. An empty field is
        no limit. What was spent before counts.
      </p>
      <Limits names={TURN_LIMITS} limitOf={limitOf} />
      {isOfAll && (
        <>
          <p className="quiet">What is read, and what is stored. Deleting makes room in what is stored.</p>
          <Limits names={[...READING_LIMITS, ...STORAGE_LIMITS]} limitOf={limitOf} />
        </>
      )}
      <p className="quiet">Within any 60 seconds, and at the same time. These free themselves.</p>
      <Limits names={isOfAll ? RATE_LIMITS : TURN_RATE_LIMITS} limitOf={limitOf} />
      <AlertField chosen={budget?.workflow_id ?? null} />
      <Checkbox
        name="hard"
        label="Refuse at the limit"
        hint="Otherwise answers carry a warning only."
        isChecked={budget?.hard ?? true}
      />
    </>
  );
}

/** The limits of one subject. Saving replaces all of them, so the stored ones are loaded first, even if the list lacks them. */
export function BudgetForm({ groups, chosen }: Props) {
  const stored = useQuery({ ...getBudget(chosen ?? ""), enabled: chosen !== undefined });
  const { send, formKey } = useSaveForm({
    kind: "budget",
    edit: chosen,
    back: { to: "/spending" },
    save: async (form) => (stored.data ? setBudget(stored.data, readLimits(form)) : setNew(groups, form)),
  });
  const formOf = (budget: Budget | null) => (
    <Form
      key={`${budget && budgetKey(budget)} ${chosen} ${formKey}`}
      submit={budget ? "Save budget" : "Set budget"}
      done={budget ? undefined : "Saved."}
      send={send}
    >
      <h2>{budget ? `The budget of ${nameOfBudget(groups, budgetKey(budget))}` : "Set a budget"}</h2>
      {!budget && <Named groups={groups} chosen={chosen} />}
      <Fields budget={budget} />
    </Form>
  );
  if (chosen === undefined) return formOf(null);
  return (
    <QueryResult query={stored} what="the budget">
      {formOf}
    </QueryResult>
  );
}
