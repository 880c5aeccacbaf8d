import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { Actor } from "#events/runOrigin.ts";
import type { StoredValue } from "#events/runParts.ts";
import type { RunArgs } from "../workflows.ts";
import { grouped, operationOf } from "./evidence.ts";
import { lost, type Finding } from "./finding.ts";

/** A step of a run, from the log. */
export interface StepHistory {
  key: string;
  name: string;
  /** Numbers of its attempts. */
  attempts: number[];
  /** Attempts with a result or an error. */
  ends: { ok: boolean; attempt: number; result: StoredValue | undefined }[];
}

export interface ApprovalHistory {
  id: string;
  name: string;
  decisions: { decision: "approve" | "reject"; by: Actor }[];
  /** Whether it expired or was cancelled. */
  over: boolean;
}

/** A run, from the log. */
export interface RunHistory {
  id: string;
  /** The operation that started it. */
  operation: string;
  args: StoredValue | undefined;
  external_user_id: string | null;
  slot: string | null;
  events: RecordedEvent<any>[];
  /** In the order of the requests. */
  steps: StepHistory[];
  approvals: ApprovalHistory[];
  ends: RecordedEvent<any>[];
}

export const ENDS: Record<string, "completed" | "failed" | "cancelled" | "continued"> = {
  RunCompleted: "completed",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunContinued: "continued",
};

function addEvent(history: RunHistory, event: RecordedEvent<any>): void {
  const { type, data, personal } = event;
  const step = history.steps.find(({ key }) => key === data.key);
  const approval = history.approvals.find(({ id }) => id === data.approval_id);
  switch (type) {
    case "StepsScheduled":
      for (const { key, name } of data.steps) history.steps.push({ key, name, attempts: [], ends: [] });
      return;
    case "StepStarted":
      return void step?.attempts.push(data.attempt);
    case "StepCompleted":
      return void step?.ends.push({ ok: true, attempt: data.attempt, result: personal?.result });
    case "StepFailed":
      return void step?.ends.push({ ok: false, attempt: data.attempt, result: undefined });
    case "ApprovalRequested":
      return void history.approvals.push({ id: data.approval_id, name: personal?.name, decisions: [], over: false });
    case "ApprovalDecided":
      return void approval?.decisions.push({ decision: data.decision, by: data.by });
    case "ApprovalExpired":
    case "ApprovalCancelled":
      if (approval) approval.over = true;
      return;
    default:
      if (type in ENDS) history.ends.push(event);
  }
}

/** The runs of a log. */
export function runsOf(events: RecordedEvent<any>[]): RunHistory[] {
  const ofRuns = grouped(
    events.filter(({ stream }) => stream.startsWith("run-")),
    ({ stream }) => stream,
  );
  return [...ofRuns].map(([stream, own]) => {
    const [created] = own;
    const history: RunHistory = {
      id: parseStreamName(stream).id,
      operation: operationOf(created!.meta.request_id),
      args: created!.personal?.args,
      external_user_id: created!.personal?.external_user_id ?? null,
      slot: created!.data.slot ?? null,
      events: own,
      steps: [],
      approvals: [],
      ends: [],
    };
    for (const event of own) addEvent(history, event);
    return history;
  });
}

/** Opens a value; undefined if it was erased. */
export const openerOf =
  (values: Map<string, string>) =>
  (value: StoredValue | undefined): unknown => {
    const json = value && ("json" in value ? value.json : values.get(value.blob));
    return json === undefined ? undefined : JSON.parse(json);
  };

/** I10: the arguments and the result of a completed run can be opened unless somebody asked to erase it. `values`: both of them. */
export const findErased = (
  name: string,
  values: (StoredValue | undefined)[],
  open: ReturnType<typeof openerOf>,
): Finding[] =>
  values.every((value) => open(value) !== undefined)
    ? []
    : [lost("I10", name, "its arguments or its result cannot be opened")];

export const argsOf = (values: Map<string, string>, { args }: RunHistory): Partial<RunArgs> =>
  openerOf(values)(args) ?? {};
