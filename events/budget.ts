import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";
import { Money } from "./money.ts";
import { Actor } from "./runOrigin.ts";

/** The subject of a budget that applies to each value of `user` separately. */
export const EACH_USER = "each-user";
/**
 * Whose spending the budget limits: `organization`, `each-user`, `project:<id>`, `key:<id>`, `person:<id>`, `agent:<id>`, or
 * `user:<mark>` for one external user (the mark is a keyed hash of the value). `@` and a model or an alias may follow: then only
 * turns that name it count.
 */
export const BUDGET_SUBJECT =
  /^(organization|each-user|(project|key|person|agent):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|user:[\w-]{43})(@[\x21-\x7e]{1,200})?$/;

export const budgetSubject = (who: string, model: string | null | undefined): string =>
  model == null ? who : `${who}@${model}`;
/** The mark of a user never contains an `@`, so the first one separates the model. */
export function splitSubject(subject: string): { who: string; model: string | null } {
  const at = subject.indexOf("@");
  return at === -1 ? { who: subject, model: null } : { who: subject.slice(0, at), model: subject.slice(at + 1) };
}
export const isEachUser = (subject: string): boolean => splitSubject(subject).who === EACH_USER;
/** For people and clients, such as `key:<id> for openai/gpt-5`. */
export const nameSubject = (subject: string): string => subject.replace("@", " for ");

const Subject = z.object({ subject: z.string().regex(BUDGET_SUBJECT) });

/** Each subject has one budget, so the id is derived from it. */
export const budgetStream = (organization: string, subject: string): string =>
  streamName("budget", deriveId("budget", organization, subject));

/** Limits that are computed from the log: of a period, of all time, and of what is stored or running now. */
export const LimitName = z.enum([
  "requests_per_day",
  "requests_per_month",
  "tokens_per_day",
  "tokens_per_week",
  "tokens_per_month",
  "tokens_total",
  "cost_per_day",
  "cost_per_week",
  "cost_per_month",
  "cost_total",
  "pages_per_day",
  "pages_per_month",
  "stored_bytes",
  "documents",
  "concurrent_runs",
]);
export type LimitName = z.infer<typeof LimitName>;
/** Limits per sliding minute, and of turns that run at the same time. */
export const RateName = z.enum(["requests_per_minute", "tokens_per_minute", "concurrent_turns", "concurrent_streams"]);
export type RateName = z.infer<typeof RateName>;

const Count = z.int().nonnegative().optional();
/** Periods are days, weeks (from Monday) and calendar months, all in UTC. An absent limit means unlimited. */
export const BudgetLimits = z.object({
  requests_per_minute: Count,
  tokens_per_minute: Count,
  concurrent_turns: Count,
  concurrent_streams: Count,
  requests_per_day: Count,
  requests_per_month: Count,
  tokens_per_day: Count,
  tokens_per_week: Count,
  tokens_per_month: Count,
  tokens_total: Count,
  cost_per_day: Money.optional(),
  cost_per_week: Money.optional(),
  cost_per_month: Money.optional(),
  cost_total: Money.optional(),
  pages_per_day: Count,
  pages_per_month: Count,
  stored_bytes: Count,
  documents: Count,
  concurrent_runs: Count,
});
export type BudgetLimits = z.infer<typeof BudgetLimits>;

/** A workflow that runs each time a threshold of a limit is reached. `set_by` configured it and answers for its runs (ADR 65). */
export const BudgetAlert = z.object({ workflow_id: z.uuid(), set_by: Actor });
export type BudgetAlert = z.infer<typeof BudgetAlert>;

const Settings = Subject.extend({
  limits: BudgetLimits,
  alert: BudgetAlert.optional(),
  /** True: requests beyond the limit are refused. False: the budget only warns. */
  hard: z.boolean(),
});
const BudgetStep = Subject.extend({
  limit: z.enum([...LimitName.options, ...RateName.options]),
  /** `2026-11-23`, `2026-W48`, `2026-11` or `total`. For limits per minute and of what is stored or running: the day on which it was noticed. */
  period: z.string(),
  percent: z.union([z.literal(80), z.literal(100)]),
  /** In the unit of the limit, when it was noticed. */
  spent: z.string(),
  at_most: z.string(),
});
export type BudgetStep = z.infer<typeof BudgetStep>;

export const SetBudget = defineCommand("SetBudget", "budget", Settings);
export const RemoveBudget = defineCommand("RemoveBudget", "budget", Subject);
/** Every process that notices may send it; only the first one has an effect. */
export const NoteBudgetReached = defineCommand("NoteBudgetReached", "budget", BudgetStep);

export const BudgetSet = defineEvent("BudgetSet", { public: Settings });
export const BudgetRemoved = defineEvent("BudgetRemoved", { public: Subject });
/** Recorded once at 80 % and once at 100 % of a limit in each period. */
export const BudgetReached = defineEvent("BudgetReached", {
  public: BudgetStep.extend({
    /** The workflow that starts. Absent: nobody is alerted. */
    alert: BudgetAlert.optional(),
  }),
});

export type BudgetCommand = CommandsIn<typeof import("./budget.ts")>;
export type BudgetEvent = EventsIn<typeof import("./budget.ts")>;
