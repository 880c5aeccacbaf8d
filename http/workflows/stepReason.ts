import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { stepId, streamName } from "#events/ids.ts";
import { parseLargeText } from "#events/readLargeJson.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readStreamWithBudget } from "../base/readStreamWithBudget.ts";
import { foldCalls, type RunCall } from "./foldCalls.ts";
import { foldRun, type RunView } from "./foldRun.ts";
import { isSameJson } from "./isSameJson.ts";
import { findRun, requireRun } from "./lookups.ts";
import {
  countOpenedBytes,
  createOpenJson,
  createOpenValue,
  openAnswer,
  openInherited,
  type OpenJson,
} from "./runValues.ts";

/* Explains why a retry or fork executed a step, by comparing it with the same call in the parent run. */

/** Maximum earlier steps whose results are compared with the parent's, nearest first. */
const MAX_COMPARED = 100;
/** Maximum changed steps that are named. */
const MAX_NAMED = 3;

export const StepReason = z
  .object({
    reason: z
      .enum([
        "no_parent",
        "parent_deleted",
        "inherited",
        "set",
        "failed",
        "unanswered",
        "forked",
        "arguments",
        "new_call",
      ])
      .describe(
        "What the parent run recorded for this call. `no_parent`: this run is neither a retry nor a fork. `parent_deleted`: the parent run no longer exists. `inherited`: a result, which this run reuses. `set`: the fork set the result itself. `failed`: a failure. `unanswered`: a call without a result. `forked`: a result, but the fork executes every call again from its step on. `arguments`: a call of this step with other arguments. `new_call`: no call of this step.",
      ),
    parent: z
      .object({
        run_id: z.string(),
        kind: z.enum(["retry", "fork"]),
        step: z.string().nullable().describe("The step from which this run continues."),
        step_id: z.string().nullable().describe("The call in the parent run that this one is compared with."),
        args: z.unknown().describe("Its arguments if the reason is `arguments`, else null."),
      })
      .nullable(),
    changes: z
      .array(
        z.object({
          what: z.enum(["version", "run_arguments", "result"]),
          step: z.string().nullable().describe("For `result`: the earlier step whose result differs."),
          from: z.int().nullable().describe("For `version`: the parent's version."),
          to: z.int().nullable(),
        }),
      )
      .describe("What differs between the two runs before this step."),
  })
  .meta({ title: "StepReason" });
type Reason = z.infer<typeof StepReason>;
type Change = Reason["changes"][number];

interface ReadRun {
  row: RunRow;
  view: RunView;
  /** In the order of their calls by `run()`. */
  calls: RunCall[];
  open: OpenJson;
}

async function readRun(http: Http, request: FastifyRequest, row: RunRow): Promise<ReadRun> {
  const events = await readStreamWithBudget(http, request, streamName("run", row.id));
  const view = await foldRun(events);
  const inherited = await openInherited(view.inherited, countOpenedBytes(request, createOpenValue(http, row)));
  return { row, view, calls: await foldCalls(events, inherited), open: createOpenJson(http, row) };
}

const isStep = ({ kind }: RunCall): boolean => kind === "step";
const byKey = ({ calls }: ReadRun) => new Map(calls.map((call) => [call.key, call]));

async function answerJson({ open }: ReadRun, call: RunCall | undefined): Promise<string | undefined> {
  const answer = call && (await openAnswer(call, open));
  return answer && "json" in answer ? answer.json : undefined;
}

/** Steps before `at` whose result differs from the same call in the parent, nearest first. */
async function changedResults(run: ReadRun, parent: ReadRun, at: number): Promise<Change[]> {
  const before = run.calls
    .slice(Math.max(0, at - MAX_COMPARED), at)
    .filter(isStep)
    .toReversed();
  const recorded = byKey(parent);
  const changed: Change[] = [];
  for (const call of before) {
    if (changed.length === MAX_NAMED) break;
    const [now, then] = [await answerJson(run, call), await answerJson(parent, recorded.get(call.key))];
    if (now === undefined || then === undefined || (await isSameJson(now, then))) continue;
    changed.push({ what: "result", step: call.name, from: null, to: null });
  }
  return changed;
}

/** JSON; "null" once it is erased. */
const argumentsOf = async ({ view, open }: ReadRun): Promise<string> =>
  (view.args && (await open(view.args))) ?? "null";

async function findChanges(run: ReadRun, parent: ReadRun, at: number): Promise<Change[]> {
  const [from, to] = [parent.row.definition_version, run.row.definition_version];
  const isSame = await isSameJson(await argumentsOf(run), await argumentsOf(parent));
  return [
    ...(from === to ? [] : [{ what: "version" as const, step: null, from, to }]),
    ...(isSame ? [] : [{ what: "run_arguments" as const, step: null, from: null, to: null }]),
    ...(await changedResults(run, parent, at)),
  ];
}

/** The parent's call of the same step with other arguments, which this call replaces. */
function findReplaced(run: ReadRun, parent: ReadRun, call: RunCall): RunCall | undefined {
  const [here, there] = [byKey(run), byKey(parent)];
  const isNamed = ({ kind, name }: RunCall) => kind === "step" && name === call.name;
  const added = run.calls.filter((one) => isNamed(one) && !there.has(one.key));
  return parent.calls.filter((one) => isNamed(one) && !here.has(one.key))[added.indexOf(call)];
}

function compareCalls(
  run: ReadRun,
  parent: ReadRun,
  call: RunCall,
): { reason: Reason["reason"]; recorded?: RunCall | undefined } {
  const recorded = byKey(parent).get(call.key);
  if (!run.view.steps.has(call.key)) return { reason: "inherited", recorded };
  if (recorded?.answer === undefined) {
    if (recorded) return { reason: "unanswered", recorded };
    const replaced = findReplaced(run, parent, call);
    return replaced ? { reason: "arguments", recorded: replaced } : { reason: "new_call" };
  }
  return { reason: recorded.endsRun || "error" in recorded.answer ? "failed" : "forked", recorded };
}

/** Explains why a run executed a step. Throws 404 `run_not_found`, and 404 for an unknown step. */
export async function explainStep(http: Http, request: FastifyRequest, run_id: string, id: string): Promise<Reason> {
  const row = await requireRun(http, request.caller, run_id);
  const run = await readRun(http, request, row);
  const at = run.calls.findIndex((call) => isStep(call) && stepId(row.id, call.key) === id.toLowerCase());
  const call = run.calls[at];
  if (!call) throw new ApiError(null, "step_id: no step of this run has this id.", { param: "step_id", status: 404 });
  const origin = run.view.created?.parent;
  if (!origin) return { reason: "no_parent", parent: null, changes: [] };
  const found = { run_id: origin.run_id, kind: origin.kind, step: origin.step, step_id: null, args: null };
  const parentRow = await findRun(http, request.caller.organization_id, origin.run_id);
  if (!parentRow) return { reason: "parent_deleted", parent: found, changes: [] };
  const parent = await readRun(http, request, parentRow);
  const { reason: compared, recorded } = compareCalls(run, parent, call);
  const isSet = compared === "inherited" && (await answerJson(run, call)) !== (await answerJson(parent, recorded));
  const reason = isSet ? "set" : compared;
  const args = reason === "arguments" && recorded?.args ? await parent.open(recorded.args) : null;
  return {
    reason,
    parent: {
      ...found,
      step_id: recorded ? stepId(parentRow.id, recorded.key) : null,
      args: args === null ? null : await parseLargeText(args),
    },
    changes: await findChanges(run, parent, at),
  };
}
