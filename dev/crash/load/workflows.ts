import { randomFrom } from "../random.ts";
import { CANARY } from "../topology.ts";
import { SECRET, sourceOf, type Kind, type RunArgs } from "../workflows.ts";
import type { WireAnswer, Wire } from "./wire.ts";
import type { KnownWorkflow } from "./known.ts";

/** Default arguments of the triggers. */
export const DEFAULTS: Partial<RunArgs> = { steps: 2, ms: 20 };
/** Live runs that a client may have of the workflow with a concurrency limit. */
const MAX_RUNS = 12;

/** Saves and registers the workflows of the load and creates their triggers; `effects` is the server that their steps call. */
export async function makeWorkflows(wire: Wire, token: string, effects: { host: string; url: string }) {
  async function send(method: string, path: string, body: unknown): Promise<WireAnswer> {
    const answered = await wire.send("workflows", { method, path, token, body }, randomFrom("workflows", path));
    if (answered.status !== null && answered.status < 300) return answered;
    throw new Error(`${method} ${path}: ${answered.text}`);
  }
  const made = async (path: string, body: unknown) => (await send("POST", path, body)).body;

  async function make(kind: Kind): Promise<KnownWorkflow> {
    const source = sourceOf(kind, effects.url);
    const { id: definition_id } = await made("/api/definitions", { type: "workflow", name: `crash_${kind}`, source });
    const { id } = await made("/api/workflows", {
      definition_id,
      name: kind,
      envelope: {
        secrets: [SECRET],
        egress: [effects.host],
        ...(kind === "parallel" && { concurrency: { max_runs: MAX_RUNS, key: "/client" } }),
      },
    });
    const trigger = await made(`/api/workflows/${id}/triggers`, { name: kind, default_args: DEFAULTS });
    return { kind, id, hook_token: trigger.hook_token, webhook_secret: trigger.secret };
  }

  await send("PUT", `/api/secrets/${SECRET}`, { value: `${CANARY}-for-steps` });
  return [await make("sequence"), await make("parallel")];
}
