import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { forkRun, getStep, type ForkChanges, type Run, type Step } from "../../api/run.ts";
import { versionsOfDefinition } from "../../api/versions.ts";
import { formatJson } from "../../format/index.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText, readJson } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { useLocationKey } from "../../parts/useLocationKey.ts";
import { versionChoices } from "../../parts/versionWords.ts";

interface Props {
  run: Run;
  step: Step;
  /** Its position in the list of steps. */
  place: number;
}

/** The differences from the forked run, without unchanged values. */
function readChanges(form: FormData, run: Run): ForkChanges {
  const args = readJson(form, "args", "Arguments of the run");
  const version = Number(formText(form, "version"));
  return {
    ...(formatJson(args) !== formatJson(run.args) && { args }),
    ...(form.has("result") && { result: readJson(form, "result", "Result of the step") }),
    ...(version !== run.definition_version && { definition_version: version }),
  };
}

const JsonField = ({ name, label, value, rows }: { name: string; label: string; value: unknown; rows: number }) => (
  <FormField label={`${label}, as JSON`}>
    <textarea name={name} rows={rows} className="mono" spellCheck={false} defaultValue={formatJson(value)} />
  </FormField>
);

function ResultField({ run, step, place }: Props) {
  const read = useQuery(getStep(run.id, place, step.status));
  const [isSet, setSet] = useState(false);
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={isSet} onChange={({ target }) => setSet(target.checked)} /> Give {step.name} a
        result instead of executing it
      </label>
      {isSet && (
        <QueryResult query={read} what="its result">
          {(found) => <JsonField name="result" label="Result of the step" value={found?.result ?? null} rows={5} />}
        </QueryResult>
      )}
    </>
  );
}

function VersionField({ run }: { run: Run }) {
  const { data } = useQuery(versionsOfDefinition(run.definition_id).newest);
  const newest = data?.total;
  const others = data ? versionChoices(data).filter(({ value }) => value !== String(run.definition_version)) : [];
  return (
    <FormField label="Version of the code">
      <select name="version" defaultValue={run.definition_version}>
        <option value={run.definition_version}>
          {run.definition_version}, as this run{run.definition_version === newest && " (the newest)"}
        </option>
        {others.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
            {value === String(newest) && " (the newest)"}
          </option>
        ))}
      </select>
    </FormField>
  );
}

/** Starts a new run from a step, with other arguments, a set result, or another version. */
export function ForkForm({ run, step, place }: Props) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  const fork = useMutation({
    mutationFn: async (form: FormData) => forkRun(run.id, step.id, readChanges(form, run)),
    onMutate: where,
    onSuccess: async ({ id }, _, began) => {
      if (where() === began) await navigate({ to: "/runs/$runId", params: { runId: id }, ignoreBlocker: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
  return (
    <details>
      <summary className="button">New run with changes …</summary>
      <Form submit="Start the new run" send={fork}>
        <p className="quiet">
          Answers from before {step.name} are taken over. With any change, approvals among them are asked again: people
          approved what they saw.
        </p>
        <JsonField name="args" label="Arguments of the run" value={run.args} rows={6} />
        <ResultField run={run} step={step} place={place} />
        <VersionField run={run} />
      </Form>
    </details>
  );
}
