import { expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { openBus, newCommand, succeed, noOutcomes, until, startWorker } from "./bus.ts";
import { openInspector } from "./streams.ts";

test("a full command stream refuses commands at once, and every accepted command is handled", async () => {
  const server = testBus();
  const limits = { commands_max_bytes: 64 * 1024 };
  const [http, services] = await Promise.all([openBus({ ...server, limits }), openBus({ ...server, limits })]);
  const sender = http.sender(noOutcomes);
  const commands = Array.from({ length: 200 }, () => newCommand({ data: "x".repeat(1000) }));
  const refused = new Set<string>();
  const answered = commands.map(async (command) => {
    const answer = await sender.send(command).catch((error: unknown) => error);
    if (answer instanceof Unavailable) refused.add(command.id);
    else expect(answer).toEqual({ position: 1, repeated: false });
  });
  const inspector = await openInspector(server);
  const stored = async () => (await inspector.jsm.streams.info(inspector.names.streams.commands)).state.messages;
  await until(async () => (await stored()) + refused.size === commands.length);
  expect(refused.size).toBeGreaterThan(100);
  expect(refused.size).toBeLessThan(200);

  const handled = new Set<string>();
  await startWorker(services, async ({ id }) => {
    handled.add(id);
    return succeed();
  });
  await Promise.all(answered);
  expect([...handled].sort()).toEqual(
    commands
      .map(({ id }) => id)
      .filter((id) => !refused.has(id))
      .sort(),
  );
  expect(await sender.send(newCommand())).toEqual({ position: 1, repeated: false });
  await inspector.close();
});
