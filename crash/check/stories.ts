import type { Recorded } from "#events/envelope.ts";
import { partsOf } from "#events/ids.ts";
import type { Actor } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";
import type { RunArgs } from "../workflows.ts";
import { grouped, operationOf } from "./evidence.ts";

/** A step of a run as the log tells it. */
export interface StepTold {
  key: string;
  name: string;
  /** Numbers of its attempts. */
  attempts: number[];
  /** Attempts that came to a result, good or bad. */
  ends: { ok: boolean; attempt: number; result: Value | undefined }[];
}

export interface ApprovalTold {
  id: string;
  name: string;
  decisions: { decision: "approve" | "reject"; by: Actor }[];
  /** It expired or was cancelled. */
  over: boolean;
}

/** A run as the log tells it. */
export interface RunTold {
  id: string;
  /** The operation that it was started by. */
  operation: string;
  args: Value | undefined;
  external_user_id: string | null;
  slot: string | null;
  events: Recorded<any>[];
  /** In the order in which they were asked for. */
  steps: StepTold[];
  approvals: ApprovalTold[];
  ends: Recorded<any>[];
}

export const ENDS: Record<string, "completed" | "failed" | "cancelled"> = {
  RunCompleted: "completed",
  RunFailed: "failed",
  RunCancelled: "cancelled",
};

function tell(told: RunTold, event: Recorded<any>): void {
  const { type, data, personal } = event;
  const step = told.steps.find(({ key }) => key === data.key);
  const approval = told.approvals.find(({ id }) => id === data.approval_id);
  switch (type) {
    case "StepsScheduled":
      for (const { key, name } of data.steps) told.steps.push({ key, name, attempts: [], ends: [] });
      return;
    case "StepStarted":
      return void step?.attempts.push(data.attempt);
    case "StepCompleted":
      return void step?.ends.push({ ok: true, attempt: data.attempt, result: personal?.result });
    case "StepFailed":
      return void step?.ends.push({ ok: false, attempt: data.attempt, result: undefined });
    case "ApprovalRequested":
      return void told.approvals.push({ id: data.approval_id, name: personal?.name, decisions: [], over: false });
    case "ApprovalDecided":
      return void approval?.decisions.push({ decision: data.decision, by: data.by });
    case "ApprovalExpired":
    case "ApprovalCancelled":
      if (approval) approval.over = true;
      return;
    default:
      if (type in ENDS) told.ends.push(event);
  }
}

/** The runs of a log. */
export function runsOf(events: Recorded<any>[]): RunTold[] {
  const ofRuns = grouped(
    events.filter(({ stream }) => stream.startsWith("run-")),
    ({ stream }) => stream,
  );
  return [...ofRuns].map(([stream, own]) => {
    const [created] = own;
    const told: RunTold = {
      id: partsOf(stream).id,
      operation: operationOf(created!.meta.request_id),
      args: created!.personal?.args,
      external_user_id: created!.personal?.external_user_id ?? null,
      slot: created!.data.slot ?? null,
      events: own,
      steps: [],
      approvals: [],
      ends: [],
    };
    for (const event of own) tell(told, event);
    return told;
  });
}

/** Opens a value; undefined where it is gone. */
export const openerOf =
  (values: Map<string, string>) =>
  (value: Value | undefined): unknown => {
    const json = value && ("json" in value ? value.json : values.get(value.blob));
    return json === undefined ? undefined : JSON.parse(json);
  };

export const argsOf = (values: Map<string, string>, { args }: RunTold): Partial<RunArgs> =>
  openerOf(values)(args) ?? {};
