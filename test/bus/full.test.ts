import { expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { aBus, aCommand, done, noOutcomes, until, working } from "./bus.ts";
import { lookAt } from "./streams.ts";

test("a full stream refuses at once, and every command that it took is handled", async () => {
  const server = testBus();
  const limits = { commands_max_bytes: 64 * 1024 };
  const [http, services] = await Promise.all([aBus({ ...server, limits }), aBus({ ...server, limits })]);
  const sender = http.sender(noOutcomes);
  const commands = Array.from({ length: 200 }, () => aCommand({ data: "x".repeat(1000) }));
  const refused = new Set<string>();
  const answered = commands.map(async (command) => {
    const answer = await sender.send(command).catch((error: unknown) => error);
    if (answer instanceof Unavailable) refused.add(command.id);
    else expect(answer).toEqual({ position: 1, repeated: false });
  });
  const looker = await lookAt(server);
  const stored = async () => (await looker.jsm.streams.info(looker.names.streams.commands)).state.messages;
  await until(async () => (await stored()) + refused.size === commands.length);
  expect(refused.size).toBeGreaterThan(100);
  expect(refused.size).toBeLessThan(200);

  const handled = new Set<string>();
  await working(services, async ({ id }) => {
    handled.add(id);
    return done();
  });
  await Promise.all(answered);
  expect([...handled].sort()).toEqual(
    commands
      .map(({ id }) => id)
      .filter((id) => !refused.has(id))
      .sort(),
  );
  expect(await sender.send(aCommand())).toEqual({ position: 1, repeated: false });
  await looker.close();
});
