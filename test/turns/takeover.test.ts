import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Command } from "#events/envelope.ts";
import { traceIdOf } from "#events/trace.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";
import { startTurn as startTurnOf } from "../startTurn.ts";

const organization_id = newId();

const startTurn = (text: string, more: { streamed?: boolean; seconds?: number; stream?: string } = {}) =>
  startTurnOf(text, { organization_id, model: "offline/scripted", ...more });

/** Turns whose worker has died after the start was committed: nobody beats for it, and no message tells of them. */
async function lostTurns(deployment: Deployment, commands: Command[], lost: Partial<{ frames: string[] }> = {}) {
  const only = await startPlatform({ roles: [], deployment });
  const { createHandler } = await import("#services/handle.ts");
  const handle = createHandler({
    log: only.opened.log,
    hints: only.opened.bus.hints,
    worker: () => "dead-worker",
    afterCommit: () => {},
  });
  await Promise.all(commands.map(handle));
  for (const { data } of commands)
    lost.frames?.forEach((text, n) =>
      only.opened.bus.frames.publish(organization_id, data.turn_id, { attempt: 1, n, type: "text", text }),
    );
  await only.stop();
}
const lostTurn = (deployment: Deployment, command: Command, lost?: Partial<{ frames: string[] }>) =>
  lostTurns(deployment, [command], lost);

const typesOf = async (platform: Awaited<ReturnType<typeof startPlatform>>, stream: string) =>
  (await platform.opened.log.read(stream)).map((event) => event.type);

test("a turn whose worker died is taken over by the sweep alone and finished", async () => {
  const deployment = await testDeployment();
  const trace_id = "c".repeat(32);
  const command = { ...startTurn("/say finished"), traceparent: `00-${trace_id}-${"d".repeat(16)}-01` };
  await lostTurn(deployment, command);
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect
    .poll(() => typesOf(platform, command.stream), { timeout: 20_000 })
    .toEqual(["TurnStarted", "TurnTakenOver", "TurnCompleted"]);
  const events = await platform.opened.log.read(command.stream);
  // what another worker does is of the same trace
  expect(events.map(({ meta }) => traceIdOf(meta.traceparent))).toEqual([trace_id, trace_id, trace_id]);
  expect(events.at(-1)!).toMatchObject({
    data: { attempt: 2, finish_reason: "stop" },
    personal: { said: { text: "finished" } },
  });
});

test("a worker that remembers the thread from before takes over what another one lost there", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["services"], deployment });
  const earlier = startTurn("/say earlier");
  await platform.opened.bus.sender(platform.opened.log).send(earlier);
  const { stream } = earlier;
  await expect.poll(() => typesOf(platform, stream)).toEqual(["TurnStarted", "TurnCompleted"]);
  await lostTurn(deployment, startTurn("/say finished", { stream }));
  await expect
    .poll(() => typesOf(platform, stream), { timeout: 20_000 })
    .toEqual(["TurnStarted", "TurnCompleted", "TurnStarted", "TurnTakenOver", "TurnCompleted"]);
});

test("a streamed turn whose reader had seen text is failed with that text", async () => {
  const deployment = await testDeployment();
  const command = startTurn("/say something else", { streamed: true });
  await lostTurn(deployment, command, { frames: ["It was ", "a dark"] });
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect
    .poll(() => typesOf(platform, command.stream), { timeout: 20_000 })
    .toEqual(["TurnStarted", "TurnTakenOver", "TurnFailed"]);
  expect((await platform.opened.log.read(command.stream)).at(-1)!.personal).toMatchObject({
    said: { text: "It was a dark" },
  });
});

test("a turn that is overdue is taken back, and its command may run again", async () => {
  const deployment = await testDeployment();
  const command = startTurn("/say late", { seconds: 0 });
  await lostTurn(deployment, command);
  const platform = await startPlatform({ roles: ["services"], deployment });
  await expect
    .poll(() => typesOf(platform, command.stream), { timeout: 20_000 })
    .toEqual(["TurnStarted", "TurnRefused"]);
  expect(await platform.opened.log.outcome(command.id, organization_id)).toBeUndefined();
  expect((await platform.opened.log.read(command.stream))[0]!.personal).toBeUndefined();
});

test("of several workers that sweep at once one finishes a lost turn", async () => {
  const deployment = await testDeployment();
  const commands = Array.from({ length: 10 }, (_, n) => startTurn(`/say ${n}`));
  await lostTurns(deployment, commands);
  const platforms = await Promise.all([1, 2, 3].map(() => startPlatform({ roles: ["services"], deployment })));
  for (const { stream } of commands)
    await expect
      .poll(() => typesOf(platforms[0]!, stream), { timeout: 20_000 })
      .toEqual(["TurnStarted", "TurnTakenOver", "TurnCompleted"]);
});

test("a worker that has taken over a hundred turns takes over the next ones before those have ended", async () => {
  const deployment = await testDeployment();
  await lostTurns(
    deployment,
    Array.from({ length: 130 }, () => startTurn("/say a while\n/slow 30")),
  );
  const { opened } = await startPlatform({ roles: ["services"], deployment });
  const taken = async () => (await opened.log.scan(0, ["TurnTakenOver"], 1_000)).events.length;
  await expect.poll(taken, { timeout: 15_000 }).toBe(130);
});

test("a worker that is asked to stop gives its turns to another", async () => {
  const deployment = await testDeployment();
  const [first, second] = [
    await startPlatform({ roles: ["services"], deployment }),
    await startPlatform({ roles: ["services"], deployment }),
  ];
  const command = startTurn("/say after a while\n/slow 1");
  await first.opened.bus.sender(first.opened.log).send(command);
  await first.stop();
  await expect
    .poll(async () => (await typesOf(second, command.stream)).at(-1), { timeout: 30_000 })
    .toBe("TurnCompleted");
});
