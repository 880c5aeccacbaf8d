import { expect, test } from "vitest";
import { newCommand, type Command } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { ForgetRun, StartRun } from "#events/run.ts";
import { openEraser } from "../../roles/eraser.ts";
import { openPlatform } from "../sharedPlatform.ts";
import { code, SOON, WAITING, workflowSource } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

/* Forks that other people start from a run while an erasure destroys it. */

const { platform } = await openPlatform();
const { home } = await openTwoTenants(platform);

const ECHO = workflowSource("return args;");
const GONE = [404, "run_not_found"];
const status = async (run: string) => code(await home.owner("GET", `/workflows/runs/${run}`));
const fork = (run: string) => home.owner("POST", `/workflows/runs/${run}/fork`, {});
const send = (command: Command) => {
  const { bus, log } = platform.resources;
  return bus.sender(log).send(command);
};

/** The work of an erasure that is not in the log, so that no other process does it. `beforeCommand` runs before each command is sent. */
async function eraseOnItsOwn(owner: string, beforeCommand: (command: Command) => Promise<void>) {
  const { log, db } = platform.resources;
  const stream = streamName("erasure", newId());
  const [newest] = await db.query<{ position: string }>("select max(position) as position from log.events");
  const position = Number(newest!.position);
  const started = {
    position: position + 1,
    data: { owner, kinds: ["runs"] },
    meta: { principal: `person:${newId()}` },
  };
  const event: typeof log.event = async (name, version) =>
    name === stream ? (started as never) : log.event(name, version);
  const sent: string[] = [];
  const erasing = openEraser({ ...platform.resources, log: { ...log, event } }, async (command) => {
    await beforeCommand(command);
    sent.push(command.type);
    return send(command);
  });
  const head = { stream, organization_id: home.organization_id, position } as StreamHead;
  // as the sweep does, which comes again
  await expect.poll(async () => (await erasing.resumeWork(head), sent), SOON).toContain("CompleteErasure");
  await erasing.stop();
  return sent;
}

test("an erasure also destroys a fork that another person began while the parent run was being destroyed", async () => {
  const member = await home.member("builder");
  const [workflow, waiting] = [await home.register(ECHO), await home.register(WAITING)];
  const first = await home.start(workflow, { text: "Mine" }, member.call);
  const live = await home.start(waiting, {}, member.call);
  await home.untilOver(first);
  await home.made(home.owner("POST", `/workflows/runs/${live}/cancel`, {}));
  await home.untilOver(live);
  const forks: string[] = [];
  const forkOf = async (run: string) => forks.push((await home.made(fork(run))).id);
  const sent = await eraseOnItsOwn(`person:${member.id}`, async ({ type, data }) => {
    const { run_id } = data as { run_id: string };
    if (type !== ForgetRun.type || forks.length >= 3) return;
    // the fork of the second run waits for a person, and the first fork is forked in its turn
    if (run_id === first || run_id === live || run_id === forks[0]) await forkOf(run_id);
  });
  expect(forks).toHaveLength(3);
  for (const run of [first, live, ...forks]) expect(await status(run), run).toEqual(GONE);
  expect(sent.filter((type) => type === ForgetRun.type).length).toBeGreaterThanOrEqual(5);
});

test("a fork is refused and leaves nothing behind if its parent run is destroyed meanwhile", async () => {
  const workflow = await home.register(ECHO);
  const first = await home.start(workflow, { text: "Mine" });
  await home.untilOver(first);
  const other = await home.made(fork(first));
  await home.untilOver(other.id);
  const { log } = platform.resources;
  const [created] = await log.read(streamName("run", other.id));
  const fields = { organization_id: home.organization_id, request_id: "test" };
  const at = "2100-01-01T00:00:00.000Z";
  const forget = newCommand(ForgetRun.type, {
    ...fields,
    stream: streamName("run", first),
    timeout_ms: 15_000,
    data: { run_id: first },
  });
  expect((await send({ ...forget, at })).rejection).toBeUndefined();
  const run_id = newId();
  const { created_at: _, worker: _worker, ...data } = created!.data as Record<string, unknown>;
  const again = newCommand(StartRun.type, {
    ...fields,
    stream: streamName("run", run_id),
    timeout_ms: 15_000,
    fresh: true,
    data: { ...data, ...(created!.personal as object), run_id },
  });
  expect((await send(again)).rejection).toMatchObject({ code: "run_not_found" });
  expect(await log.read(streamName("run", run_id))).toEqual([]);
});
