import type { CommandDefinition } from "#events/define.ts";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import { CancelRun, StartRun } from "#events/run.ts";
import { Envelope } from "#events/workflow.ts";
import { openDesk } from "../tools/desk.ts";

/** A workflow whose runs stay live until they are cancelled. */
export const WAITING = `export async function run(ctx) { await ctx.awaitApproval("go", { title: "Go?" }); }`;
/** One that asks for secrets. */
export const asking = (...secrets: string[]) =>
  `export const meta = ${JSON.stringify({ description: "Asks", secrets })};\n${WAITING}`;

/** The service with one organization, its owner signed in, and short ways to its workflows. */
export async function openManagement(env: Record<string, string> = {}) {
  const desk = await openDesk(env);
  const { opened, credentials } = desk.service;
  const { organization_id } = credentials;
  let names = 0;

  async function made(method: string, path: string, body: object) {
    const { status, body: answer, text } = await desk.person(method, path, body);
    if (status !== 201) throw new Error(`${method} ${path}: ${text}`);
    return answer;
  }
  const define = (source = WAITING, more: object = {}) =>
    made("POST", "/definitions", { type: "workflow", name: `workflow_${names++}`, source, ...more });
  const register = async (more: object = {}) =>
    made("POST", "/workflows", { definition_id: (await define()).id, ...more });
  const trigger = (workflow: string, more: object = {}) => made("POST", `/workflows/${workflow}/triggers`, more);

  const project = async (): Promise<string> => (await made("POST", "/projects", { name: "P" })).id;

  async function send<D>(definition: CommandDefinition<string, D>, stream: string, data: D) {
    const { rejection } = await opened.bus.sender(opened.log).send({
      id: newCommandId(),
      type: definition.type,
      stream,
      organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + 20_000).toISOString(),
      request_id: "test",
      data,
    });
    if (rejection) throw new Error(`${definition.type}: ${rejection.code} ${rejection.message}`);
  }

  /** A run as a start would make it. */
  async function start(workflow: { id: string; definition: { id: string; version: number } }, trigger_id?: string) {
    const run_id = newId();
    const { limits, retention_days, approvals, run_as } = Envelope.parse({});
    await send(StartRun, streamOf("run", run_id), {
      run_id,
      workflow_id: workflow.id,
      definition_id: workflow.definition.id,
      definition_version: workflow.definition.version,
      project_id: null,
      trigger_id: trigger_id ?? null,
      started_by: { type: "webhook", id: trigger_id ?? newId() },
      run_as,
      limits,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      retention_days,
      approvals,
      slot: null,
      args: { json: "{}" },
      external_user_id: null,
    });
    return run_id;
  }
  const cancel = (run_id: string) =>
    send(CancelRun, streamOf("run", run_id), { run_id, by: { type: "system", id: "test" }, reason: null });

  return { ...desk, organization_id, send, define, register, trigger, project, start, cancel };
}
export type Management = Awaited<ReturnType<typeof openManagement>>;
