import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Command } from "#events/envelope.ts";
import type { Usage } from "#events/thread.ts";
import { parseTraceId } from "#events/trace.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";
import { startTurn as startTurnOf } from "../startTurn.ts";

const organization_id = newId();

const startTurn = (text: string, more: { streamed?: boolean; seconds?: number; stream?: string } = {}) =>
  startTurnOf(text, { organization_id, model: "offline/scripted", ...more });

interface Lost {
  /** Words that readers have. */
  frames?: string[];
  /** Undefined: nobody had room for the turn. */
  worker?: string | undefined;
}

/** Turns whose worker died after it committed their start: it has no heartbeat, and no message announces them. */
async function lostTurns(deployment: Deployment, commands: Command[], lost: Lost = {}) {
  const only = await startPlatform({ roles: [], deployment });
  const { createHandler } = await import("#services/handle.ts");
  const handle = createHandler({
    log: only.resources.log,
    hints: only.resources.bus.hints,
    worker: () => ("worker" in lost ? lost.worker : "dead-worker"),
    afterCommit: () => {},
  });
  await Promise.all(commands.map(handle));
  for (const { data } of commands)
    lost.frames?.forEach((text, n) =>
      only.resources.bus.frames.publish(organization_id, data.turn_id, { attempt: 1, n, type: "text", text }),
    );
  await only.stop();
}
const lostTurn = (deployment: Deployment, command: Command, lost?: Lost) => lostTurns(deployment, [command], lost);

const typesOf = async (platform: Awaited<ReturnType<typeof startPlatform>>, stream: string) =>
  (await platform.resources.log.read(stream)).map((event) => event.type);

test("the sweep alone takes over and finishes a turn whose worker died", async () => {
  const deployment = await testDeployment();
  const trace_id = "c".repeat(32);
  const command = { ...startTurn("/say finished"), traceparent: `00-${trace_id}-${"d".repeat(16)}-01` };
  await lostTurn(deployment, command);
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect
    .poll(() => typesOf(platform, command.stream))
    .toEqual(["TurnStarted", "TurnTakenOver", "TargetFailed", "TurnCompleted"]);
  const events = await platform.resources.log.read(command.stream);
  // the other worker continues the trace
  expect(events.map(({ meta }) => parseTraceId(meta.traceparent))).toEqual(events.map(() => trace_id));
  expect(events[2]!.data).toMatchObject({ target: "offline/scripted", reason: "worker_lost" });
  expect(events.at(-1)!).toMatchObject({
    data: { attempt: 2, finish_reason: "stop" },
    personal: { said: { text: "finished" } },
  });
});

test("a worker with a cached state of the thread takes over a turn that another worker lost in the thread", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["services"], deployment });
  const earlier = startTurn("/say earlier");
  await platform.resources.bus.sender(platform.resources.log).send(earlier);
  const { stream } = earlier;
  await expect.poll(() => typesOf(platform, stream)).toEqual(["TurnStarted", "TurnCompleted"]);
  await lostTurn(deployment, startTurn("/say finished", { stream }));
  await expect
    .poll(() => typesOf(platform, stream))
    .toEqual(["TurnStarted", "TurnCompleted", "TurnStarted", "TurnTakenOver", "TargetFailed", "TurnCompleted"]);
});

test("a lost streamed turn whose reader has received text fails with that text", async () => {
  const deployment = await testDeployment();
  const command = startTurn("/say something else", { streamed: true });
  await lostTurn(deployment, command, { frames: ["It was ", "a dark"] });
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect.poll(() => typesOf(platform, command.stream)).toEqual(["TurnStarted", "TurnTakenOver", "TurnFailed"]);
  expect((await platform.resources.log.read(command.stream)).at(-1)!.personal).toMatchObject({
    said: { text: "It was a dark" },
  });
});

test("an overdue turn that had not yet called a model is refused, and its command may run again", async () => {
  const deployment = await testDeployment();
  const command = startTurn("/say late", { seconds: 0 });
  await lostTurn(deployment, command, { worker: undefined });
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect.poll(() => typesOf(platform, command.stream)).toEqual(["TurnStarted", "TurnRefused"]);
  expect(await platform.resources.log.outcome(command.id, organization_id)).toBeUndefined();
  expect((await platform.resources.log.read(command.stream))[0]!.personal).toBeUndefined();
});

test("an overdue turn of a lost worker fails, and the worker's request counts as usage", async () => {
  const deployment = await testDeployment();
  const command = startTurn("/say late", { seconds: 0 });
  await lostTurn(deployment, command);
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect.poll(() => typesOf(platform, command.stream)).toEqual(["TurnStarted", "TurnTakenOver", "TurnFailed"]);
  const { usage } = (await platform.resources.log.read(command.stream)).at(-1)!.data as { usage: Usage };
  expect([usage.prompt_tokens > 0, usage.completion_tokens]).toEqual([true, 0]);
});

test("only one of several workers that sweep at the same time finishes a lost turn", async () => {
  const deployment = await testDeployment();
  const commands = Array.from({ length: 10 }, (_, n) => startTurn(`/say ${n}`));
  await lostTurns(deployment, commands);
  const platforms = await Promise.all([1, 2, 3].map(() => startPlatform({ roles: ["services"], deployment })));
  for (const { stream } of commands)
    await expect
      .poll(() => typesOf(platforms[0]!, stream))
      .toEqual(["TurnStarted", "TurnTakenOver", "TargetFailed", "TurnCompleted"]);
});

test("a worker that runs a hundred lost turns takes over more before those end", async () => {
  const deployment = await testDeployment();
  await lostTurns(
    deployment,
    Array.from({ length: 130 }, () => startTurn("/say a while\n/slow 30")),
  );
  const { resources: opened } = await startPlatform({ roles: ["services"], deployment });
  const taken = async () => (await opened.log.scan(0, ["TurnTakenOver"], 1_000)).events.length;
  await expect.poll(taken).toBe(130);
});

test("a worker that stops leaves its turns to another worker", async () => {
  const deployment = await testDeployment();
  const [first, second] = [
    await startPlatform({ roles: ["services"], deployment }),
    await startPlatform({ roles: ["services"], deployment }),
  ];
  const command = startTurn("/say after a while\n/slow 1");
  await first.resources.bus.sender(first.resources.log).send(command);
  await first.stop();
  await expect.poll(async () => (await typesOf(second, command.stream)).at(-1)).toBe("TurnCompleted");
});
