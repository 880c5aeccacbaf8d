/* Workflows whose runs depend on others (on runs that they start, on events, on several votes), or that store something. */

/** `starter` starts runs of `sequence`; `listener` waits for an event; `voted` needs two equal votes; `chained` continues in further runs; `asking` asks an agent; `storing` saves a file and pushes a document. */
export type LinkedKind = "starter" | "listener" | "voted" | "chained" | "asking" | "storing";
export const LINKED_KINDS: LinkedKind[] = ["starter", "listener", "voted", "chained", "asking", "storing"];

/** Arguments of a linked run. */
export interface LinkedArgs {
  /** Identifies the run in everything it leaves behind. */
  id: string;
  client: number;
  /** Runs that a `starter` starts. */
  children?: number;
  /** Milliseconds that the step of each of them takes. */
  ms?: number;
  /** Whether they continue when their starter is cancelled. */
  leave?: boolean;
  /** What an `asking` run says to the agent. */
  words?: string;
  /** Number of runs that still continue a `chained` one. */
  left?: number;
}

/** The name of the agent that `asking` runs ask. */
export const ASKED_AGENT = "Asked by runs";
/** The event that a `listener` waits for. */
export const EVENT = "crash";
/** The collection to which `storing` runs push documents. */
export const STORED_IN = "Stored by runs";
/** Starts of `storing` runs; more are refused. */
export const START_RATE = { max_runs: 10, per_seconds: 5 };
/** Votes that a `voted` run needs. */
const VOTES = 2;
/** Longer than any fault of a run. After that, the run continues without the event. */
const LISTENS = "45s";

const META = `
export const meta = {
  type: "workflow",
  args: {
    type: "object",
    properties: {
      id: { type: "string" },
      client: { type: "integer" },
      children: { type: "integer" },
      ms: { type: "integer" },
      leave: { type: "boolean" },
      words: { type: "string" },
      left: { type: "integer" },
      path: { type: "array", items: { type: "string" } },
    },
    required: ["id", "client"],
    additionalProperties: false,
  },
};
`;

const NO_STEPS = "export const steps = {};";
/** Longer than a fault lasts. */
const STORE = `
const patient = { retries: 15, backoff: { kind: "fixed", initial_ms: 2_000 } };
export const steps = {
  store: defineStep(patient, async ({ id }, ctx) => {
    const { file_id } = await ctx.files.save({ name: "note.txt", text: "File of " + id });
    const { content } = await ctx.files.read({ file_id });
    const { document_id } = await ctx.knowledge.push({ collection: "${STORED_IN}", text: "Document of " + id });
    return { file_id, content, document_id };
  }),
};
`;

const RUNS: Record<LinkedKind, string> = {
  starter: `
export async function run(ctx, { id, client, children = 1, ms = 0, leave = false }) {
  const runs = [];
  for (let n = 0; n < children; n++) {
    const args = { id: id + " child " + n, client, steps: 1, ms };
    runs.push(await ctx.startRun("sequence", args, { on_parent_end: leave ? "leave" : "cancel" }));
  }
  const ends = await Promise.all(runs.map((run) => ctx.waitForRun(run)));
  return { id, children: runs.map(({ run_id }, n) => ({ run_id, status: ends[n].status, result: ends[n].result ?? null })) };
}
`,
  listener: `
export async function run(ctx, { id }) {
  const event = await ctx.waitForEvent("${EVENT}", { match: { id }, timeout: "${LISTENS}" });
  return { id, event };
}
`,
  voted: `
export async function run(ctx, { id }) {
  const { status, votes } = await ctx.awaitApproval("votes", { title: "Votes on " + id, required: ${VOTES}, one_rejection_ends: false, assignees: [{ group: "crash_voters" }] });
  return { id, status, votes: votes.map(({ by, decision, files }) => ({ by: by.id, decision, files })) };
}
`,
  asking: `
export async function run(ctx, { id, words = "Hello" }) {
  const first = await ctx.agent("${ASKED_AGENT}", words, { onError: "return" });
  const thread_id = first.ok ? first.value.thread_id : undefined;
  const second = thread_id && (await ctx.agent("${ASKED_AGENT}", "And then?", { onError: "return", thread_id }));
  return { id, answers: second ? [first, second] : [first] };
}
`,
  storing: `
export async function run(ctx, { id }) {
  return { id, stored: await ctx.runStep("store", { id }) };
}
`,
  chained: `
export async function run(ctx, { id, client, left = 0, path = [] }) {
  const here = [...path, ctx.runId];
  return left > 0 ? ctx.continueAs({ id, client, left: left - 1, path: here }) : { id, path: here };
}
`,
};

export const linkedSourceOf = (kind: LinkedKind): string => META + (kind === "storing" ? STORE : NO_STEPS) + RUNS[kind];

/** The tool of the guarded agent, which acts on the server of the harness once a person has allowed the call. */
export const GUARDED_TOOL = "crash_act";
export const guardedSource = (effects: string): string => `
export const meta = {
  name: "${GUARDED_TOOL}",
  description: "Acts on the harness's server.",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false },
};
export async function execute({ id }, { fetch }) {
  const answer = await fetch("${effects}", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": id },
    body: JSON.stringify({ run_id: "${GUARDED_TOOL}", step: "call", part: "only", attempt: 1, ms: 200, fails: "never" }),
  });
  return answer.json();
}
`;
