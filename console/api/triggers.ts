import { queryOptions } from "@tanstack/react-query";
import { COUNTED } from "./build.ts";
import { call, itemPath, queryAll } from "./call.ts";
import { byId } from "./readAll.ts";

/* Triggers of a workflow's runs: webhooks and schedules. */

/** Senders whose signatures the service checks. */
export const SIGNERS = ["github", "gitlab", "shopify", "slack", "standard-webhooks", "stripe", "twilio"] as const;

export type Rule = { cron: string; time_zone: string } | { every: number } | { at: string };
export type Overlap = "skip" | "queue" | "cancel";
export type MissedRule = "one" | "all" | "none";

export interface Trigger {
  id: string;
  workflow_id: string;
  kind: "webhook" | "schedule";
  name: string;
  hook_url: string | null;
  /** The name of the event that a call sends; null if a call starts a run. */
  event: string | null;
  enabled: boolean;
  runs: number;
  last_used_at: string | null;
  schedule: Rule | null;
  args: Record<string, unknown> | null;
  overlap: Overlap | null;
  missed: MissedRule | null;
  jitter_seconds: number | null;
  paused: boolean | null;
  next_times: string[] | null;
  last_fired: {
    due_at: string;
    outcome: string;
    run_id: string | null;
    error: { code: string; message: string | null } | null;
  } | null;
}

type TriggerId = Pick<Trigger, "id" | "workflow_id">;
const pathOfWorkflow = (workflow: string) => `${itemPath("workflows", workflow)}/triggers`;
const pathOf = ({ workflow_id, id }: TriggerId) => itemPath(pathOfWorkflow(workflow_id), id);

export const listSchedules = queryOptions({
  ...COUNTED,
  queryKey: ["trigger", "schedules"],
  queryFn: queryAll<Trigger>("workflows/schedules", byId),
});
export const listTriggers = (workflow: string) =>
  queryOptions({
    ...COUNTED,
    queryKey: ["trigger", "of", workflow],
    queryFn: queryAll<Trigger>(pathOfWorkflow(workflow), byId),
  });
export const createTrigger = (workflow: string, body: object) =>
  call<Trigger & { secret?: string }>(pathOfWorkflow(workflow), { method: "POST", body });
export const changeTrigger = (trigger: TriggerId, body: object) =>
  call<Trigger>(pathOf(trigger), { method: "PATCH", body });
export const deleteTrigger = (trigger: TriggerId) => call<void>(pathOf(trigger), { method: "DELETE" });
/** The webhook with its new secret, which no later answer returns. The old secret stops working at once. */
export const rotateTrigger = (trigger: TriggerId) =>
  call<Trigger & { secret?: string }>(`${pathOf(trigger)}/rotate`, { method: "POST" });
