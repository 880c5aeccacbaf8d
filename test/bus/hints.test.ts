import { expect, test } from "vitest";
import { testBus } from "#test/harness.ts";
import { openBus, until } from "./bus.ts";
import { openInspector } from "./streams.ts";

test("a thousand hints in one iteration of the event loop are sent as one message, and no process receives its own hint twice", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([openBus(server), openBus(server)]);
  const inspector = await openInspector(server);
  let published = 0;
  inspector.nc.subscribe(inspector.names.hint.committed, { callback: () => void (published += 1) });
  await inspector.nc.flush();
  const [here, there]: [number[], number[]] = [[], []];
  one.hints.onCommitted((position) => here.push(position));
  other.hints.onCommitted((position) => there.push(position));

  for (let position = 1; position <= 1000; position += 1) one.hints.announceCommitted(position);
  one.hints.announceCommitted(500);
  await until(() => here.length > 0);
  expect(here).toEqual([1000]);
  one.hints.announceCommitted(1001);
  await until(() => there.length === 2 && published === 2);
  expect({ here, there }).toEqual({ here: [1000, 1001], there: [1000, 1001] });
  await inspector.close();
});

test("projections at the same position share a message", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([openBus(server), openBus(server)]);
  const inspector = await openInspector(server);
  let published = 0;
  inspector.nc.subscribe(inspector.names.hint.projected, { callback: () => void (published += 1) });
  await inspector.nc.flush();
  const received: string[] = [];
  other.hints.onProjected((projection, position) => received.push(`${projection} ${position}`));
  for (const projection of ["turns", "keys", "files"]) one.hints.announceProjected(projection, 9);
  await until(() => received.length === 3);
  expect(received).toEqual(["turns 9", "keys 9", "files 9"]);
  expect(published).toBe(1);
  await inspector.close();
});

test("hints of different projections are not merged, and stop when the listener unsubscribes", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([openBus(server), openBus(server)]);
  const received: string[] = [];
  const leave = other.hints.onProjected((projection, position) => received.push(`${projection} ${position}`));
  one.hints.announceProjected("turns", 3);
  one.hints.announceProjected("keys", 5);
  one.hints.announceProjected("turns", 4);
  await until(() => received.length === 2);
  expect(received.sort()).toEqual(["keys 5", "turns 4"]);
  leave();
  const inspector = await openInspector(server);
  inspector.nc.publish(inspector.names.hint.projected, JSON.stringify({ projection: "files", position: 7 }));
  const older: string[] = [];
  other.hints.onProjected((projection, position) => older.push(`${projection} ${position}`));
  await until(() => older.length === 1);
  expect(older).toEqual(["files 7"]);
  await inspector.close();
  const last: number[] = [];
  other.hints.onProjected((_, position) => last.push(position));
  one.hints.announceProjected("turns", 6);
  await until(() => last.length === 1);
  expect(received).toHaveLength(2);
});
