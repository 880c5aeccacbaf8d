import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changeWorkflow, getWorkflow, type Workflow } from "../../api/build.ts";
import type { Envelope } from "../../api/envelope.ts";
import { listAgents, listWorkflows } from "../../api/nameLists.ts";
import { formatJson } from "../../format/index.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { readJson } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { EnvelopeFields } from "./EnvelopeFields.tsx";
import { readEnvelope } from "./readEnvelope.ts";
import "./envelope.css";

interface Saving {
  read: (form: FormData) => unknown;
  onSaved: (envelope: Envelope) => void;
}

/** Saves the rules that a form reads. */
function useSave({ id }: Workflow, { read, onSaved }: Saving) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (form: FormData) => changeWorkflow(id, { envelope: read(form) }),
    onSuccess: (saved) => {
      queries.setQueryData(getWorkflow(id).queryKey, saved);
      onSaved(saved.envelope);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["workflow"] }),
  });
}

interface FormProps {
  workflow: Workflow;
  /** The rules at the start of the edit. */
  envelope: Envelope;
  onSaved: Saving["onSaved"];
}

/** Changes by another person are shown only on request, because they would replace the typed text. */
const ChangedElsewhere = ({ onShow }: { onShow: () => void }) => (
  <div className="notice warn" role="status">
    <p>Somebody else has changed these rules. Saving yours replaces theirs.</p>
    <button type="button" className="button" onClick={onShow}>
      Show their rules
    </button>
  </div>
);

/** All rules in the API's form, including the person for whom the runs act. */
function AsJson({ workflow, envelope, onSaved }: FormProps) {
  const save = useSave(workflow, { read: (form) => readJson(form, "envelope", "The rules"), onSaved });
  return (
    <details>
      <summary>The rules as JSON</summary>
      <Form key={JSON.stringify(envelope)} submit="Save JSON" done="Saved." send={save}>
        <FormField label="Rules as JSON" hint="Also `run_as`, whom the runs act for: the service, or you.">
          <textarea name="envelope" rows={14} className="mono" spellCheck={false} defaultValue={formatJson(envelope)} />
        </FormField>
      </Form>
    </details>
  );
}

/** The rules of a workflow's runs, which no caller can change. */
export function EnvelopeForm({ workflow }: { workflow: Workflow }) {
  const workflows = useQuery(listWorkflows);
  const agents = useQuery(listAgents);
  const [envelope, setEnvelope] = useState(workflow.envelope);
  const save = useSave(workflow, { read: readEnvelope, onSaved: setEnvelope });
  const key = JSON.stringify(envelope);
  return (
    <section className="stack" aria-labelledby="rules">
      <h2 id="rules">Rules of its runs (the envelope)</h2>
      <p className="quiet">
        What runs may use, and how much of it. No caller can change them; they apply to live runs too.
      </p>
      {key !== JSON.stringify(workflow.envelope) && <ChangedElsewhere onShow={() => setEnvelope(workflow.envelope)} />}
      <QueryResult query={workflows} what="workflows">
        {(allWorkflows) => (
          <QueryResult query={agents} what="agents">
            {(allAgents) => (
              <Form key={key} submit="Save rules" done="Saved." send={save}>
                <EnvelopeFields envelope={envelope} workflows={allWorkflows} agents={allAgents} />
              </Form>
            )}
          </QueryResult>
        )}
      </QueryResult>
      <AsJson workflow={workflow} envelope={envelope} onSaved={setEnvelope} />
    </section>
  );
}
