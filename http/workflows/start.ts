import type { FastifyRequest } from "fastify";
import type { Principal } from "#events/envelope.ts";
import { newId, partsOf, streamOf } from "#events/ids.ts";
import { StartRun, type Actor } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";
import type { Envelope, RunAs } from "#events/workflow.ts";
import type { Http } from "../deps.ts";
import { ApiError, fromRejection } from "../errors.ts";
import { commandId, fingerprintOf, madeBefore, outcomeBefore } from "../idempotency.ts";
import { nextId } from "../upload/keep.ts";
import { argsCheck } from "./args.ts";
import { freeSlots } from "./slots.ts";
import { dropArgs, keepArgs } from "./value.ts";

/** What a start needs of its workflow, by whichever way it was found. */
export interface Startable {
  id: string;
  organization_id: string;
  project_id: string | null;
  definition_id: string;
  definition_version: number;
  enabled: boolean;
  envelope: Envelope;
}

/** A start as it was asked for. */
export interface Asked {
  request: FastifyRequest;
  principal: Principal;
  /** Below /api/workflows: with the principal and the key it names the request. */
  path: string;
  /** The client's own key for it. */
  key: string | undefined;
  args: Record<string, unknown>;
  started_by: Actor;
  trigger_id: string | null;
  run_as: RunAs;
  external_user_id: string | null;
}

/** Runs that took the free places meanwhile are given way to so often. */
const TRIES = 8;

interface Named {
  id: string;
  fingerprint: string;
}

function nameStart(organization_id: string, { request, principal, path, key, external_user_id }: Asked): Named {
  const asking = { organization_id, principal, user: undefined, method: "POST", path: `/api/workflows${path}` };
  const more = external_user_id === null ? [] : [external_user_id];
  return { id: commandId(asking, key), fingerprint: fingerprintOf(asking, request.bodyHash, more) };
}

const nextTry = (id: string): string => nextId(id, "another place");

/** The run that the same request has started before; else the id that its command has now. Throws what it was refused with. */
async function before(
  http: Http,
  organization_id: string,
  { id, fingerprint }: Named,
): Promise<{ run_id: string } | { id: string }> {
  for (let next = id; ; next = nextTry(next)) {
    const known = await outcomeBefore(http.db, organization_id, next, fingerprint);
    if (known?.made) return { run_id: partsOf(known.made).id };
    // a place that was taken, whichever it was, was no answer
    if (known?.rejection && known.rejection.code !== "slot_taken") throw fromRejection(known.rejection);
    if (!known) return { id: next };
  }
}

const tooMany = ({ max_runs }: { max_runs: number }) =>
  new ApiError("too_many_live_runs", `The workflow has ${max_runs} live runs, the most that it may have at once.`);

/** The run as it is asked for; what is of the envelope stays with it as it is now. */
function runOf(workflow: Startable, asked: Asked, run_id: string, args: Value) {
  const { limits, retention_days, approvals } = workflow.envelope;
  return {
    run_id,
    workflow_id: workflow.id,
    definition_id: workflow.definition_id,
    definition_version: workflow.definition_version,
    project_id: workflow.project_id,
    trigger_id: asked.trigger_id,
    started_by: asked.started_by,
    run_as: asked.run_as,
    limits,
    expires_at: new Date(Date.now() + limits.run_ttl_s * 1000).toISOString(),
    retention_days,
    approvals,
    args,
    external_user_id: asked.external_user_id,
  };
}

/** The way to the log of a run that nothing speaks against any more. */
async function send(http: Http, workflow: Startable, asked: Asked, { id: first, fingerprint }: Named): Promise<string> {
  const { organization_id } = workflow;
  const { concurrency } = workflow.envelope;
  const run_id = newId();
  const { args, keys } = await keepArgs(http, { organization_id, run_id }, JSON.stringify(asked.args));
  const data = runOf(workflow, asked, run_id, args);
  const { principal, request } = asked;
  const sending = { stream: streamOf("run", run_id), organization_id, principal, request_id: request.id, fingerprint };
  const drop = async () => {
    if (keys) await dropArgs(http, organization_id, run_id);
  };

  for (let tried = 0, id = first; tried < TRIES; tried++, id = nextTry(id)) {
    const free = concurrency && (await freeSlots(http, workflow, concurrency, asked.args));
    const slot = free ? free[Math.floor(Math.random() * free.length)] : null;
    if (slot === undefined) break;
    try {
      const { repeated } = await http.send(StartRun, {
        ...sending,
        id,
        fresh: true,
        ...(keys && { keys }),
        data: { ...data, slot },
      });
      // a command that was delivered twice is repeated too, and its run is this one
      const made = repeated ? await madeBefore(http.db, organization_id, id, fingerprint) : run_id;
      if (made !== run_id) await drop();
      return made;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      if (error.errorCode === "slot_taken") continue;
      await drop();
      throw error;
    }
  }
  await drop();
  throw tooMany(concurrency!);
}

/**
 * Starts a run; its id, once it is in the log. The same request under its key starts one run, whatever became of the workflow since.
 * Throws 409 `workflow_disabled`, 400 `invalid_args`, 429 `too_many_live_runs`.
 */
export async function startRun(http: Http, workflow: Startable, asked: Asked): Promise<string> {
  const named = nameStart(workflow.organization_id, asked);
  const earlier = asked.key === undefined ? { id: named.id } : await before(http, workflow.organization_id, named);
  if ("run_id" in earlier) return earlier.run_id;
  if (!workflow.enabled)
    throw new ApiError("workflow_disabled", "The workflow is disabled: it starts no runs until it is enabled again.");
  const check = await argsCheck(http, workflow);
  const misfit = check(asked.args);
  if (misfit) {
    const message = `${misfit.pointer || "The arguments"}: ${misfit.message}.`.replace(/\.\.$/, ".");
    throw new ApiError("invalid_args", message, { param: misfit.pointer });
  }
  return send(http, workflow, asked, { ...named, id: earlier.id });
}
