import type { Envelope } from "../../api/envelope.ts";
import type { Listing } from "../../api/readAll.ts";
import { Checkbox } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Options, wordChoices } from "../../parts/Choices.tsx";
import { UnlistedChoices } from "../../parts/UnlistedChoices.tsx";
import { SpanField } from "../../parts/SpanField.tsx";
import {
  EXPIRES_AFTER_LABEL,
  KEPT_FOR_LABEL,
  LIMIT_NAMES,
  LIST_NAMES,
  NAME_LISTS,
  PRIORITIES,
  RATE_PERIOD_LABEL,
  RUN_LIMITS,
  RUN_TIMES,
  TIME_NAMES,
} from "./readEnvelope.ts";

const DAY_S = 86_400;

interface ReachProps {
  name: "workflows" | "agents";
  legend: string;
  things: Listing<{ id: string; name: string }>;
  /** Ids, or `*`. */
  chosen: readonly string[];
}

/** All items of a kind, or only the selected ones. An empty selection means none. */
function Reach({ name, legend, things, chosen }: ReachProps) {
  const isAll = chosen.includes("*");
  const ids = chosen.filter((id) => id !== "*");
  const mode = (value: string, label: string, isChecked: boolean) => (
    <label className="check">
      <input type="radio" name={`${name}_mode`} value={value} defaultChecked={isChecked} /> {label}
    </label>
  );
  return (
    <fieldset className="reach">
      <legend>{legend}</legend>
      {mode("all", "All, also later ones", isAll)}
      {mode("some", "Only these; without any, none", !isAll)}
      <div className="reach-list">
        {things.data.map((thing) => (
          <Checkbox key={thing.id} name={name} value={thing.id} label={thing.name} isChecked={ids.includes(thing.id)} />
        ))}
        <UnlistedChoices name={name} chosen={ids} listed={things.data.map(({ id }) => id)} isWhole={things.isWhole} />
      </div>
    </fieldset>
  );
}

interface NumberProps {
  name: string;
  label: string;
  value: number | undefined;
  most: number;
  isRequired?: boolean;
}

const NumberField = ({ name, label, value, most, isRequired = true }: NumberProps) => (
  <FormField label={label}>
    <input type="number" name={name} min={1} max={most} required={isRequired} defaultValue={value} />
  </FormField>
);

/** A JSON pointer to the argument whose values are counted separately. */
const ArgumentField = ({ name, value }: { name: string; value: string | null | undefined }) => (
  <FormField label="For each value of (optional)">
    <input name={name} className="mono" defaultValue={value ?? ""} placeholder="/customer" maxLength={200} />
  </FormField>
);

const Limits = ({ envelope: { limits, concurrency, retention_days } }: { envelope: Envelope }) => (
  <fieldset>
    <legend>Limits of a run</legend>
    <div className="side-by-side">
      {LIMIT_NAMES.map((name) => (
        <NumberField
          key={name}
          name={name}
          label={RUN_LIMITS[name].label}
          value={limits[name]}
          most={RUN_LIMITS[name].most}
        />
      ))}
      {TIME_NAMES.map((name) => (
        <SpanField key={name} name={name} label={RUN_TIMES[name]} value={limits[name]} isRequired />
      ))}
      <SpanField
        name="retention_days"
        label={KEPT_FOR_LABEL}
        hint="after its end"
        value={retention_days * DAY_S}
        isRequired
      />
      <NumberField
        name="concurrency.max_runs"
        label="Live runs (optional)"
        value={concurrency?.max_runs}
        most={1_000}
        isRequired={false}
      />
      <ArgumentField name="concurrency.key" value={concurrency?.key} />
    </div>
  </fieldset>
);

const Starts = ({ envelope: { start_rate, priority } }: { envelope: Envelope }) => (
  <fieldset>
    <legend>Starts</legend>
    <div className="side-by-side">
      <NumberField
        name="start_rate.max_runs"
        label="Starts in a period (optional)"
        value={start_rate?.max_runs}
        most={1_000}
        isRequired={false}
      />
      <SpanField
        name="start_rate.per_seconds"
        label={RATE_PERIOD_LABEL}
        value={start_rate?.per_seconds ?? 60}
        isRequired
      />
      <ArgumentField name="start_rate.key" value={start_rate?.key} />
      <FormField label="Priority among the organization's runs">
        <select name="priority" defaultValue={priority ?? "normal"}>
          <Options choices={wordChoices(PRIORITIES)} />
        </select>
      </FormField>
    </div>
  </fieldset>
);

const Approvals = ({ rules }: { rules: Envelope["approvals"] }) => (
  <fieldset>
    <legend>Approvals</legend>
    <SpanField name="default_expiry_s" label={EXPIRES_AFTER_LABEL} value={rules.default_expiry_s} isRequired />
    <Checkbox name="allow_api_key" label="API keys may decide" isChecked={rules.allow_api_key} />
    <Checkbox
      name="allow_api_key_when_restricted"
      label="API keys may also decide those that name people"
      isChecked={rules.allow_api_key_when_restricted === true}
    />
    <Checkbox
      name="self_approval"
      label="The person who started a run may decide its approvals"
      isChecked={rules.self_approval !== false}
    />
  </fieldset>
);

interface Props {
  envelope: Envelope;
  workflows: ReachProps["things"];
  agents: ReachProps["things"];
}

/** The rules of a workflow's runs, as form fields. */
export const EnvelopeFields = ({ envelope, workflows, agents }: Props) => (
  <>
    <div className="side-by-side">
      {LIST_NAMES.map((name) => (
        <label key={name}>
          <span>{NAME_LISTS[name].label}</span>
          <span className="quiet">{NAME_LISTS[name].hint}</span>
          <textarea
            name={name}
            rows={3}
            className="mono"
            spellCheck={false}
            defaultValue={(envelope[name] ?? []).join("\n")}
          />
        </label>
      ))}
    </div>
    <Reach
      name="workflows"
      legend="Workflows whose runs it may start"
      things={workflows}
      chosen={envelope.workflows ?? ["*"]}
    />
    <Reach name="agents" legend="Agents that steps may ask" things={agents} chosen={envelope.agents} />
    <Limits envelope={envelope} />
    <Starts envelope={envelope} />
    <Approvals rules={envelope.approvals} />
  </>
);
