import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { changeWorkflow, listAllAgents, listAllWorkflows, type Workflow } from "../../api/build.ts";
import { formatJson } from "../../format/index.ts";
import { Form } from "../../parts/Form.tsx";
import { readJson } from "../../parts/formText.ts";
import { Loaded } from "../../parts/Notices.tsx";
import { EnvelopeFields } from "./EnvelopeFields.tsx";
import { readEnvelope } from "./readEnvelope.ts";
import "./envelope.css";

/** Saves the rules that a form reads. */
function useSave({ id }: Workflow, read: (form: FormData) => unknown) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (form: FormData) => changeWorkflow(id, { envelope: read(form) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["workflow"] }),
  });
}

/** All rules as the API has them, also the one whom the runs act for. */
function AsJson({ workflow }: { workflow: Workflow }) {
  const save = useSave(workflow, (form) => readJson(form, "envelope", "The rules"));
  return (
    <details>
      <summary>The rules as JSON</summary>
      <Form submit="Save JSON" done="Saved." send={save}>
        <label>
          <span>Rules as JSON</span>
          <span className="quiet">Also `run_as`, whom the runs act for: the service, or you.</span>
          <textarea
            name="envelope"
            rows={14}
            className="mono"
            spellCheck={false}
            defaultValue={formatJson(workflow.envelope)}
          />
        </label>
      </Form>
    </details>
  );
}

/** The rules of a workflow's runs. No caller can change them. */
export function EnvelopeForm({ workflow }: { workflow: Workflow }) {
  const workflows = useQuery(listAllWorkflows);
  const agents = useQuery(listAllAgents);
  const save = useSave(workflow, readEnvelope);
  return (
    <section className="stack" aria-labelledby="rules">
      <h2 id="rules">Rules of its runs (the envelope)</h2>
      <p className="quiet">
        What runs may use, and how much of it. No caller can change them; they apply to live runs too.
      </p>
      <Loaded query={workflows} what="workflows">
        {({ data: all }) => (
          <Loaded query={agents} what="agents">
            {({ data }) => (
              <Form submit="Save rules" done="Saved." send={save}>
                <EnvelopeFields envelope={workflow.envelope} workflows={all} agents={data} />
              </Form>
            )}
          </Loaded>
        )}
      </Loaded>
      <AsJson workflow={workflow} />
    </section>
  );
}
