/** What a run of the load is started with; every part that is left out or zero is passed over. */
export interface RunArgs {
  /** Names the run wherever it leaves something. */
  id: string;
  client: number;
  /** Steps one after the other. */
  steps: number;
  /** How long the server of the harness takes for each of them. */
  ms: number;
  /** Steps that ask nothing of the platform, one after the other, each with what run() has drawn before it. */
  pure: number;
  /** Items of a runStepMany. */
  many: number;
  sleep_ms: number;
  flaky: boolean;
  paid: boolean;
  /** A step that is never tried twice: its run fails where its process is lost. */
  once: boolean;
  ask: boolean;
  large: boolean;
  breaks: boolean;
  approval: boolean;
}

/** `sequence`: one thing after the other, ended by complete(). `parallel`: two steps and a timer at once, then two approvals at once. */
export type Kind = "sequence" | "parallel";

export const SECRET = "crash_token";
const LARGE = 80_000;
/** How long a step takes until it asks for its secret: time enough to be cancelled. */
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

/* How often the server has met this part of the step, over all its attempts: no two attempts come to the same. */
async function effect(ctx, step, part, { ms = 0, fails = "never", token } = {}) {
  const answer = await ctx.fetch("${effects}", {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { "x-token": token }) },
    body: JSON.stringify({ run_id: ctx.runId, step, part, attempt: ctx.attempt, ms, fails }),
  });
  if (answer.status !== 200) throw new Error(step + " was answered " + answer.status);
  return (await answer.json()).nth;
}
/* Steps one after the other, each with what run() has drawn for it. */
async function pureSteps(ctx, count = 0) {
  const told = [];
  for (let n = 0; n < count; n++) told.push(await ctx.runStep("pure", { n, drawn: ctx.uuid("pure " + n) + " " + Math.random() }));
  return told;
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
  const told = [];
  for (let n = 0; n < (args.steps ?? 0); n++) told.push(await ctx.runStep("act", { n, ms }));
  told.push(...(await pureSteps(ctx, args.pure)));
  const items = Array.from({ length: args.many ?? 0 }, (_, n) => ({ n }));
  if (items.length > 0) told.push(...(await ctx.runStepMany("item", items, { concurrency: 3 })));
  if (args.sleep_ms > 0) await ctx.sleep(args.sleep_ms);
  if (args.flaky) told.push(await ctx.runStep("flaky", {}));
  if (args.paid) told.push(await ctx.runStep("paid", {}));
  if (args.once) told.push(await ctx.runStep("once", {}));
  if (args.ask) told.push(await ctx.runStep("ask", { words: id }));
  if (args.large) told.push(await ctx.runStep("large", {}));
  if (args.breaks) told.push(await ctx.runStep("breaks", {}));
  if (!args.approval) return ctx.complete({ id, told, decided: [] });
  const { approved, status } = await ctx.awaitApproval("only", { title: "Go on with " + id + "?" });
  if (approved) told.push(await ctx.runStep("act", { n: "approved", ms }), ...(await pureSteps(ctx, args.pure)));
  return ctx.complete({ id, told, decided: [status] });
}
`,
  parallel: `
export async function run(ctx, { id, ms = 0, pure, sleep_ms = 0, approval }) {
  const [left, right, told] = await Promise.all([
    ctx.runStep("act", { n: "left", ms }),
    ctx.runStep("act", { n: "right", ms }),
    pureSteps(ctx, pure),
    ctx.sleep(sleep_ms + 500),
  ]);
  const asks = approval ? ["first", "second"] : [];
  const answers = await Promise.all(asks.map((name) => ctx.awaitApproval(name, { title: name + " of " + id })));
  return { id, told: [left, right, ...told], decided: answers.map(({ status }) => status) };
}
`,
};

/** Source of a workflow whose steps act on the server of the harness. */
export const sourceOf = (kind: Kind, effects: string): string => STEPS(effects) + RUNS[kind];

/** Names of the approvals that a run asks for, in their order. */
export function approvalsOf(kind: Kind, { approval }: Partial<RunArgs>): string[] {
  if (!approval) return [];
  return kind === "parallel" ? ["first", "second"] : ["only"];
}

/** Names of the steps of a run that comes to its end, in the order in which they are asked for. */
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

/** What a step of a name must come to, whatever its attempts; the rest is what the server has told. */
export function isResultOf(name: string, args: Partial<RunArgs>, result: any): boolean {
  if (result?.step !== name) return false;
  if (name === "pure") return /^[0-9a-f-]{36} \d/.test(result.drawn);
  if (name === "ask") return String(result.content).includes(args.id!);
  if (name === "paid" && result.token !== `[secret ${SECRET}]`) return false;
  if (name === "large" && result.text?.length !== LARGE) return false;
  return Number.isInteger(result.nth) && result.nth > 0;
}

/** How a run fails whose step does, however often it is tried. */
export const BROKEN = "breaks was answered 500";
