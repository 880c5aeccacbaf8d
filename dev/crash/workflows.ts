/** Arguments of a run. Parts that are omitted or zero are skipped. */
export interface RunArgs {
  /** Identifies the run in everything it leaves behind. */
  id: string;
  client: number;
  /** Consecutive steps. */
  steps: number;
  /** Milliseconds that the harness's server takes for each step. */
  ms: number;
  /** Number of consecutive steps that do not use the platform; each receives a random value from run(). */
  pure: number;
  /** Items of a runStepMany. */
  many: number;
  sleep_ms: number;
  flaky: boolean;
  paid: boolean;
  /** A step that is never retried: losing its process fails the run. */
  once: boolean;
  ask: boolean;
  large: boolean;
  breaks: boolean;
  approval: boolean;
}

/** `sequence`: consecutive parts, then complete(). `parallel`: two steps and a timer at once, then two approvals at once. */
export type Kind = "sequence" | "parallel";

export const SECRET = "crash_token";
const LARGE = 80_000;
/** Milliseconds until a step reads its secret, which is enough time for a cancellation. */
export const BEFORE_MS = 1_000;
const ONCE_MS = 400;

const STEPS = (effects: string): string => `
export const meta = {
  type: "workflow",
  secrets: ["${SECRET}"],
  args: {
    type: "object",
    properties: {
      id: { type: "string" },
      ${["client", "steps", "ms", "pure", "many", "sleep_ms"].map((name) => `${name}: { type: "integer", minimum: 0 },`).join(" ")}
      ${["flaky", "paid", "once", "ask", "large", "breaks", "approval"].map((name) => `${name}: { type: "boolean" },`).join(" ")}
    },
    required: ["id", "client"],
    additionalProperties: false,
  },
};

/*
 * The server's count of this part of the step, over all attempts: no two attempts get the same number. The body names the
 * attempt, so the step sends its own key.
 */
async function effect(ctx, step, part, { ms = 0, fails = "never", token } = {}) {
  const answer = await ctx.fetch("${effects}", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": ctx.idempotencyKey, ...(token && { "x-token": token }) },
    body: JSON.stringify({ run_id: ctx.runId, step, part, attempt: ctx.attempt, ms, fails }),
  });
  if (answer.status !== 200) throw new Error(step + " was answered " + answer.status);
  return (await answer.json()).nth;
}
/* Consecutive steps, each with a random value drawn by run(). */
async function pureSteps(ctx, count = 0) {
  const results = [];
  for (let n = 0; n < count; n++) results.push(await ctx.runStep("pure", { n, drawn: ctx.uuid("pure " + n) + " " + Math.random() }));
  return results;
}
const soon = { kind: "fixed", initial_ms: 200 };

export const steps = {
  act: async ({ n, ms }, ctx) => ({ step: "act", n, nth: await effect(ctx, "act", "only", { ms }) }),
  pure: ({ n, drawn }) => ({ step: "pure", n, drawn }),
  item: async ({ n }, ctx) => ({ step: "item", n, nth: await effect(ctx, "item", "only") }),
  flaky: defineStep({ retries: 5, backoff: soon }, async (_, ctx) => ({
    step: "flaky",
    nth: await effect(ctx, "flaky", "only", { fails: "first" }),
  })),
  paid: async (_, ctx) => {
    await effect(ctx, "paid", "before", { ms: ${BEFORE_MS} });
    const token = await ctx.secrets.get("${SECRET}");
    return { step: "paid", token, nth: await effect(ctx, "paid", "after", { token }) };
  },
  once: defineStep({ on_lost: "fail" }, async (_, ctx) => ({
    step: "once",
    nth: await effect(ctx, "once", "only", { ms: ${ONCE_MS} }),
  })),
  ask: async ({ words }, ctx) => {
    const { id, content } = await ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: words }] });
    return { step: "ask", id, content };
  },
  large: async (_, ctx) => {
    const nth = await effect(ctx, "large", "only");
    return { step: "large", nth, text: "x".repeat(${LARGE}) };
  },
  breaks: defineStep({ retries: 1, backoff: soon }, (_, ctx) => effect(ctx, "breaks", "only", { fails: "always" })),
};
`;

const RUNS: Record<Kind, string> = {
  sequence: `
export async function run(ctx, args) {
  const { id, ms = 0 } = args;
  const results = [];
  for (let n = 0; n < (args.steps ?? 0); n++) results.push(await ctx.runStep("act", { n, ms }));
  results.push(...(await pureSteps(ctx, args.pure)));
  const items = Array.from({ length: args.many ?? 0 }, (_, n) => ({ n }));
  if (items.length > 0) results.push(...(await ctx.runStepMany("item", items, { concurrency: 3 })));
  if (args.sleep_ms > 0) await ctx.sleep(args.sleep_ms);
  if (args.flaky) results.push(await ctx.runStep("flaky", {}));
  if (args.paid) results.push(await ctx.runStep("paid", {}));
  if (args.once) results.push(await ctx.runStep("once", {}));
  if (args.ask) results.push(await ctx.runStep("ask", { words: id }));
  if (args.large) results.push(await ctx.runStep("large", {}));
  if (args.breaks) results.push(await ctx.runStep("breaks", {}));
  if (!args.approval) return ctx.complete({ id, results, decided: [] });
  const { approved, status } = await ctx.awaitApproval("only", { title: "Go on with " + id + "?" });
  if (approved) results.push(await ctx.runStep("act", { n: "approved", ms }), ...(await pureSteps(ctx, args.pure)));
  return ctx.complete({ id, results, decided: [status] });
}
`,
  parallel: `
export async function run(ctx, { id, ms = 0, pure, sleep_ms = 0, approval }) {
  const [left, right, results] = await Promise.all([
    ctx.runStep("act", { n: "left", ms }),
    ctx.runStep("act", { n: "right", ms }),
    pureSteps(ctx, pure),
    ctx.sleep(sleep_ms + 500),
  ]);
  const asks = approval ? ["first", "second"] : [];
  const answers = await Promise.all(asks.map((name) => ctx.awaitApproval(name, { title: name + " of " + id })));
  return { id, results: [left, right, ...results], decided: answers.map(({ status }) => status) };
}
`,
};

/** Source of a workflow whose steps act on the server of the harness. */
export const sourceOf = (kind: Kind, effects: string): string => STEPS(effects) + RUNS[kind];

/** Names of the approvals that a run requests, in order. */
export function approvalsOf(kind: Kind, { approval }: Partial<RunArgs>): string[] {
  if (!approval) return [];
  return kind === "parallel" ? ["first", "second"] : ["only"];
}

/** Names of the steps of a run that completes, in the order of their requests. */
export function stepsOf(kind: Kind, args: Partial<RunArgs>, decided: string[]): string[] {
  const { steps = 0, many = 0 } = args;
  const pure = Array.from({ length: args.pure ?? 0 }, () => "pure");
  if (kind === "parallel") return ["act", "act", ...pure];
  const single = (["flaky", "paid", "once", "ask", "large", "breaks"] as const).filter((name) => args[name]);
  return [
    ...Array.from({ length: steps }, () => "act"),
    ...pure,
    ...Array.from({ length: many }, () => "item"),
    ...single,
    ...(decided[0] === "approved" ? ["act", ...pure] : []),
  ];
}

/** Whether a step's result is right, whatever its attempts; the rest comes from the server. */
export function isResultOf(name: string, args: Partial<RunArgs>, result: any): boolean {
  if (result?.step !== name) return false;
  if (name === "pure") return /^[0-9a-f-]{36} \d/.test(result.drawn);
  if (name === "ask") return String(result.content).includes(args.id!);
  if (name === "paid" && result.token !== `[secret ${SECRET}]`) return false;
  if (name === "large" && result.text?.length !== LARGE) return false;
  return Number.isInteger(result.nth) && result.nth > 0;
}

/** The failure of a run whose step fails in every attempt. */
export const BROKEN = "breaks was answered 500";
