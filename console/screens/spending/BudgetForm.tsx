import {
  AMOUNTS,
  RATES,
  setBudget,
  STORED,
  type Budget,
  type BudgetToSet,
  type LimitName,
} from "../../api/spending.ts";
import { Check, Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { useSaving } from "../../parts/useSaving.ts";
import { nameOf, type useSubjects } from "./useSubjects.ts";

type Groups = ReturnType<typeof useSubjects>;

const LABELS: Record<LimitName, string> = {
  tokens_per_day: "Tokens a day",
  tokens_per_month: "Tokens a month",
  cost_per_day: "US dollars a day",
  cost_per_month: "US dollars a month",
  requests_per_minute: "Requests a minute",
  tokens_per_minute: "Tokens a minute",
  concurrent_turns: "Turns at a time",
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
  const limits = [...AMOUNTS, ...STORED, ...RATES].map((name) => [name, read(name)]);
  return { ...(Object.fromEntries(limits) as Record<LimitName, number | string | null>), hard: form.has("hard") };
}

function readSubject(form: FormData): string {
  const user = formText(form, "user");
  return user === "" ? formText(form, "subject") : `user:${user}`;
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
    {/* rendered again once the chosen one is known: only then it can be selected */}
    <select key={chosen && nameOf(groups, chosen)} name="subject" defaultValue={chosen ?? "organization"}>
      {chosen && nameOf(groups, chosen) === chosen && <option value={chosen}>{chosen}</option>}
      {groups.map(({ label, subjects }) => (
        <optgroup key={label} label={label}>
          {subjects.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  </label>
);

interface Props {
  budget: Budget | undefined;
  groups: Groups;
  /** The subject that the address names; it may have no budget yet. */
  chosen: string | undefined;
}

/** Limits of one subject. Saving replaces all of them. */
export function BudgetForm({ budget, groups, chosen }: Props) {
  const { send, formKey } = useSaving({
    kind: "budget",
    back: { to: "/spending" },
    save: async (form) => setBudget(budget?.subject ?? readSubject(form), readLimits(form)),
  });
  const limitOf = (name: LimitName) => budget?.limits.find((limit) => limit.name === name)?.limit;
  return (
    <Form
      key={`${budget?.subject} ${chosen} ${formKey}`}
      submit={budget ? "Save budget" : "Set budget"}
      done={budget ? undefined : "Saved."}
      send={send}
    >
      <h2>{budget ? `The budget of ${nameOf(groups, budget.subject)}` : "Set a budget"}</h2>
      {!budget && (
        <div className="side-by-side">
          <Subject groups={groups} chosen={chosen} />
          <label>
            Or one end user
            <input name="user" maxLength={200} placeholder="The user of requests" autoComplete="off" />
          </label>
        </div>
      )}
      <p className="quiet">Days and months of UTC. An empty field is no limit. What was spent before counts.</p>
      <Limits names={AMOUNTS} limitOf={limitOf} />
      <p className="quiet">What is stored. Deleting makes room.</p>
      <Limits names={STORED} limitOf={limitOf} />
      <p className="quiet">Within any 60 seconds, and at the same time. These free themselves.</p>
      <Limits names={RATES} limitOf={limitOf} />
      <Check
        name="hard"
        label="Refuse at the limit"
        hint="Otherwise answers carry a warning only."
        isChecked={budget?.hard ?? true}
      />
    </Form>
  );
}
