import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { StepFailure } from "#services/workflows/tick.ts";
import { CliError } from "../cliError.ts";

/* Answers to the calls of a local run, in the form of an answers file or a test case. */

const StepAnswer = z.union(
  [
    z.strictObject({ args: z.unknown().optional(), result: z.unknown() }),
    z.strictObject({ args: z.unknown().optional(), error: z.string(), code: z.string().optional() }),
  ],
  "must be {result} or {error}, with args where it is for these arguments only",
);
export type StepAnswer = z.infer<typeof StepAnswer>;

/** The failure of a step whose answer is an error. */
export const stepFailure = ({ error, code = "step_error" }: Extract<StepAnswer, { error: string }>): StepFailure =>
  new StepFailure(code as "step_error", error);

/** `wait`: the approval stays open as long as the run can continue without it. */
const DECISIONS = ["approve", "reject", "expire", "wait"] as const;
const voteFields = {
  data: z.unknown().default(null),
  comment: z.string().nullable().default(null),
  files: z.array(z.string()).optional(),
  by: z.string().default("local"),
};
const GivenVote = z.strictObject({ decision: z.enum(["approve", "reject"]), ...voteFields });
export type GivenVote = z.infer<typeof GivenVote>;
const ApprovalAnswer = z.union(
  [
    z.enum(DECISIONS).transform((decision) => ({
      decision,
      data: null,
      comment: null,
      files: undefined,
      by: "local",
      votes: undefined,
    })),
    z
      .strictObject({ decision: z.enum(DECISIONS), ...voteFields, votes: z.array(GivenVote).min(1).optional() })
      .refine(
        ({ decision, votes }) => !votes || decision === "expire" || votes.at(-1)!.decision === decision,
        "the last of the votes decides, so it must have the decision",
      ),
  ],
  'must be "approve", "reject", "expire" or "wait", or {decision, data, comment, files, by, votes}',
);
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

const RunAnswer = z
  .strictObject({
    status: z.enum(["completed", "failed", "cancelled", "timed_out"]).default("completed"),
    result: z.unknown().default(null),
    error: z.string().nullable().default(null),
  })
  .describe("How a run that `startRun` started ends.");
export type RunAnswer = z.infer<typeof RunAnswer>;

const AgentAnswer = z.union(
  [z.strictObject({ output_text: z.string() }), z.strictObject({ error: z.string() })],
  "must be {output_text} or {error}",
);
export type AgentAnswer = z.infer<typeof AgentAnswer>;

const EventAnswer = z.union(
  [
    z.literal("timeout").transform((): undefined => undefined),
    z.strictObject({ data: z.record(z.string(), z.unknown()).default({}) }),
  ],
  'must be {data}, or "timeout" for no event',
);
export type EventAnswer = NonNullable<z.output<typeof EventAnswer>>;

/** Not a union, whose message would not say what is wrong with an answer. */
const oneOrMore = <T extends z.ZodType>(one: T) =>
  z.preprocess((given) => (Array.isArray(given) ? given : [given]), z.array(one));

/** Fields of an answers file and of a test case. */
export const answerFields = {
  headers: z.record(z.string(), z.string()).default({}).describe("Of the request that started the run."),
  now: z.iso.datetime().optional().describe("When the run starts."),
  steps: z.record(z.string(), oneOrMore(StepAnswer)).default({}),
  /** Steps to execute in the sandbox; true: all without an answer. */
  execute: z.union([z.boolean(), z.array(z.string())]).default(false),
  approvals: z.record(z.string(), oneOrMore(ApprovalAnswer)).default({}),
  /** By the name passed to `startRun`, or the id passed to `waitForRun`. */
  runs: z.record(z.string(), oneOrMore(RunAnswer)).default({}),
  /** By the name passed to `waitForEvent`. A wait without an answer times out. */
  events: z.record(z.string(), oneOrMore(EventAnswer)).default({}),
  /** By the name or id passed to `agent`. */
  agents: z.record(z.string(), oneOrMore(AgentAnswer)).default({}),
  secrets: z.record(z.string(), z.string()).default({}),
};
export const AnswersFile = z.strictObject(answerFields);
export type AnswersFile = z.infer<typeof AnswersFile>;
export const NO_ANSWERS: AnswersFile = AnswersFile.parse({});

/** Parses a JSON file. Throws CliError with the file and the field. */
export function parseFile<T extends z.ZodType>(schema: T, text: string, file: string): z.output<T> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file} is not JSON (${(error as Error).message})`, "correct it there");
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new CliError(`${file}: ${[...path, ""].join(".").replace(/\.$/, ": ")}${message}`, "correct it there");
}

/** Assigns answers to calls. Answers with `args` apply to calls with equal arguments. The others are used in order, and the last one is repeated. */
export function createAnswers({ steps, approvals, runs, events, agents, execute }: AnswersFile) {
  const used = new Map<string, number>();
  const next = <T>(what: string, answers: T[]): T | undefined => {
    const nth = used.get(what) ?? 0;
    used.set(what, nth + 1);
    return answers[Math.min(nth, answers.length - 1)];
  };
  return {
    step(name: string, args: unknown): StepAnswer | undefined {
      const answers = Object.hasOwn(steps, name) ? steps[name]! : [];
      const exact = answers.find((answer) => answer.args !== undefined && isDeepStrictEqual(answer.args, args));
      if (exact) return exact;
      return next(
        `step ${name}`,
        answers.filter((answer) => answer.args === undefined),
      );
    },
    isExecuted: (name: string): boolean => (Array.isArray(execute) ? execute.includes(name) : execute),
    approval: (name: string): ApprovalAnswer | undefined =>
      Object.hasOwn(approvals, name) ? next(`approval ${name}`, approvals[name]!) : undefined,
    event: (name: string): EventAnswer | undefined =>
      Object.hasOwn(events, name) ? next(`event ${name}`, events[name]!) : undefined,
    agent: (name: string): AgentAnswer | undefined =>
      Object.hasOwn(agents, name) ? next(`agent ${name}`, agents[name]!) : undefined,
    run: (name: string): RunAnswer | undefined =>
      Object.hasOwn(runs, name) ? next(`run ${name}`, runs[name]!) : undefined,
  };
}

export type Answers = ReturnType<typeof createAnswers>;
