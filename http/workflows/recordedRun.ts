import type { RecordedEvent } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { inOrderOfAnswers } from "#events/inheritedCalls.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import { readStreamWithBudget, type ReadBudget } from "../base/readStreamWithBudget.ts";
import type { RecordedCall, RecordedEnd, RecordedRun } from "../base/runReplayer.ts";
import { foldCalls, type RunCall } from "./foldCalls.ts";
import { foldRun, type RunView } from "./foldRun.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";
import {
  countOpenedBytes,
  countOpenedJson,
  createOpenJson,
  createOpenValue,
  openAnswer,
  openInherited,
  type OpenJson,
} from "./runValues.ts";

/** Failures caused by `run()` itself. The others come from limits of the run, which a replay does not have. */
const OWN_FAILURES = ["run_error", "run_timeout", "out_of_memory", "run_stuck", "not_serialisable", "result_too_large"];

/** JSON of the terms of each approval, by key. */
function approvalTerms(events: readonly RecordedRunEvent[]): Map<string, string> {
  const terms = new Map<string, string>();
  for (const event of events) {
    if (event.type !== "ApprovalRequested" || !event.personal) continue;
    const { title, body, form, assignees } = event.personal;
    const { key, on_expiry, self_approval, votes } = event.data;
    terms.set(key, JSON.stringify({ title, body, form, assignees, on_expiry, self_approval, votes }));
  }
  return terms;
}

/** Calls that expired with `on_expiry: "fail"` were never answered to `run()`. */
const readAnswer = async (call: RunCall, open: OpenJson): Promise<RecordedCall["answer"]> =>
  call.kind === "approval" && call.endsRun ? undefined : openAnswer(call, open);

async function readEnd(
  events: readonly RecordedRunEvent[],
  { status, result, next_args }: RunView,
  calls: RecordedCall[],
  open: OpenJson,
): Promise<RecordedEnd> {
  if (status === "completed") {
    const json = result && (await open(result));
    return json === null ? { type: "open" } : { type: "completed", json };
  }
  if (status === "continued") {
    const json = next_args && (await open(next_args));
    return json === null ? { type: "open" } : { type: "continued", json };
  }
  const failed = events.find((event) => event.type === "RunFailed");
  if (!failed) return { type: "open" };
  const { code, key } = failed.data;
  const isOwn = key === null ? OWN_FAILURES.includes(code) : calls.some((call) => call.key === key && call.answer);
  return isOwn ? { type: "failed", key, message: failed.personal?.error.message ?? "" } : { type: "open" };
}

const answeredInOrder = (calls: RunCall[]): string[] =>
  inOrderOfAnswers(calls.filter(({ answer, answered_at }) => answer && answered_at !== null)).map(({ key }) => key);

/** Reads a run as a replay needs it; undefined once its data has been destroyed. Throws 429 `too_many_bytes`, and Unavailable. */
export async function readRecordedRun(
  http: Pick<Http, "streamPages" | "vault">,
  row: RunRow,
  budget: ReadBudget,
): Promise<RecordedRun | undefined> {
  const recorded: readonly RecordedEvent[] = await readStreamWithBudget(http, budget, streamName("run", row.id));
  const events = recorded as readonly RecordedRunEvent[];
  const view = await foldRun(recorded);
  const open = countOpenedJson(budget, createOpenJson(http, row));
  const args = view.args && (await open(view.args));
  if (!view.created || args === null) return undefined;
  const openValue = countOpenedBytes(budget, createOpenValue(http, row));
  const made = await foldCalls(recorded, await openInherited(view.inherited, openValue));
  const terms = approvalTerms(events);
  const calls: RecordedCall[] = [];
  // one after the other, so that at most one sealed value is in memory next to the opened ones
  for (const call of made) {
    const { key, kind, name } = call;
    const stored = kind === "step" && call.args ? await open(call.args) : (terms.get(key) ?? null);
    calls.push({ key, kind, name, args: stored, answer: await readAnswer(call, open) });
  }
  const { parent, created_at } = view.created;
  return {
    run_id: parent?.seen_as.run_id ?? row.id,
    created_at: Date.parse(parent?.seen_as.created_at ?? created_at),
    args,
    headers: view.headers,
    calls,
    answered: answeredInOrder(made),
    end: await readEnd(events, view, calls, open),
  };
}
