import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { startRun, type Workflow } from "../../api/build.ts";
import type { FormSchema } from "../../api/types.ts";
import { shortId } from "../../format/index.ts";
import { ArgsForm, readArgs } from "../../parts/ArgsForm.tsx";

/** Starts a run of a registered workflow. */
export function RunForm({ workflow, schema }: { workflow: Workflow; schema: FormSchema | null }) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: async (form: FormData) => startRun(workflow.id, readArgs(form, schema)),
    // a workflow shows how many runs it has
    onSettled: () => Promise.all(["run", "workflow"].map((kind) => queries.invalidateQueries({ queryKey: [kind] }))),
  });
  return (
    <>
      <ArgsForm schema={schema} submit="Start a run" send={send} />
      {send.data && (
        <p className="notice good" role="status">
          Started:{" "}
          <Link to="/runs/$runId" params={{ runId: send.data.id }}>
            run {shortId(send.data.id)}
          </Link>
        </p>
      )}
    </>
  );
}
