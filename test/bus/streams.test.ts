import { pino } from "pino";
import { expect, test } from "vitest";
import { testBus } from "#test/harness.ts";
import { openBus, newCommand, succeed, noOutcomes, startWorker } from "./bus.ts";
import { openInspector } from "./streams.ts";

test("streams with an older configuration are updated, and fields that the server ignores are logged once", async () => {
  const server = testBus();
  const { jsm, names, close } = await openInspector(server);
  await jsm.streams.add({ name: names.streams.frames, subjects: [names.all.frames], storage: "memory" });
  await jsm.streams.add({
    name: names.streams.commands,
    subjects: [names.all.commands],
    retention: "workqueue",
    max_bytes: 1000,
  });
  const lines: { name?: string; ignored?: string[] }[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(JSON.parse(line)) });
  const bus = await openBus({ ...server, log, limits: { commands_max_bytes: 2_000_000 } });
  await startWorker(bus, succeed);
  expect(await bus.sender(noOutcomes).send(newCommand())).toEqual({ position: 1, repeated: false });
  const { config } = await jsm.streams.info(names.streams.commands);
  expect(config).toMatchObject({ max_bytes: 2_000_000, discard: "new" });
  expect(lines.map(({ name, ignored }) => ({ name, ignored }))).toEqual([
    { name: names.streams.frames, ignored: expect.arrayContaining(["storage"]) },
  ]);
  await close();
});

test("all streams are bounded: queues refuse when full, and frames, dead letters and the feed drop the oldest", async () => {
  const server = testBus();
  await openBus(server);
  const { jsm, names, close } = await openInspector(server);
  const shapes = Object.entries(names.streams).map(async ([name, stream]) => {
    const { retention, discard, storage, max_age, max_bytes } = (await jsm.streams.info(stream)).config;
    expect(max_bytes).toBeGreaterThan(0);
    return [name, { retention, discard, storage, hours: max_age / 3.6e12 }] as const;
  });
  expect(Object.fromEntries(await Promise.all(shapes))).toEqual({
    commands: { retention: "workqueue", discard: "new", storage: "file", hours: 1 },
    reactions: { retention: "workqueue", discard: "new", storage: "file", hours: 1 },
    frames: { retention: "limits", discard: "old", storage: "file", hours: 1 },
    dead: { retention: "limits", discard: "old", storage: "file", hours: 24 },
    events: { retention: "limits", discard: "old", storage: "file", hours: 7 * 24 },
  });
  await close();
});
