import { expect, test } from "vitest";
import { testBus } from "#test/harness.ts";
import { aBus, until } from "./bus.ts";
import { lookAt } from "./streams.ts";

test("a thousand hints of one turn of the event loop leave as one, and no process hears its own twice", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([aBus(server), aBus(server)]);
  const looker = await lookAt(server);
  let published = 0;
  looker.nc.subscribe(looker.names.hint.committed, { callback: () => void (published += 1) });
  await looker.nc.flush();
  const [here, there]: [number[], number[]] = [[], []];
  one.hints.onCommitted((position) => here.push(position));
  other.hints.onCommitted((position) => there.push(position));

  for (let position = 1; position <= 1000; position += 1) one.hints.committed(position);
  one.hints.committed(500);
  await until(() => here.length > 0);
  expect(here).toEqual([1000]);
  one.hints.committed(1001);
  await until(() => there.length === 2 && published === 2);
  expect({ here, there }).toEqual({ here: [1000, 1001], there: [1000, 1001] });
  await looker.close();
});

test("each projection's hints go their own way, until the listener leaves", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([aBus(server), aBus(server)]);
  const heard: string[] = [];
  const leave = other.hints.onProjected((projection, position) => heard.push(`${projection} ${position}`));
  one.hints.projected("turns", 3);
  one.hints.projected("keys", 5);
  one.hints.projected("turns", 4);
  await until(() => heard.length === 2);
  expect(heard.sort()).toEqual(["keys 5", "turns 4"]);
  leave();
  const last: number[] = [];
  other.hints.onProjected((_, position) => last.push(position));
  one.hints.projected("turns", 6);
  await until(() => last.length === 1);
  expect(heard).toHaveLength(2);
});
